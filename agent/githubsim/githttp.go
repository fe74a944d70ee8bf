package githubsim

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
)

func (s *Sim) serveGit(w http.ResponseWriter, r *http.Request, service string) {
	name := strings.TrimSuffix(strings.Trim(strings.TrimSuffix(r.URL.Path, service), "/"), ".git")
	by := callerOf(r)
	who := by.user
	push := service == "/git-receive-pack" || r.URL.Query().Get("service") == "git-receive-pack"

	s.mu.Lock()
	target := s.findRepo(name)
	if moved := s.moved[strings.ToLower(name)]; target == nil && moved != nil {
		to := s.url + "/" + moved.fullName() + ".git" + service + "?" + r.URL.RawQuery
		s.mu.Unlock()
		http.Redirect(w, r, to, http.StatusMovedPermanently)
		return
	}
	readable := target != nil && (!target.Private || who != nil && target.permission(who) != "none" && by.given.covers(target))
	writable := target != nil && who != nil && s.mayPush(target, who) && by.given.covers(target)
	s.mu.Unlock()

	switch {
	case who == nil && (push || !readable):
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		http.Error(w, "Invalid username or token.", http.StatusUnauthorized)
		return
	case !readable:
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return
	case push && !writable:
		http.Error(w, "Permission to "+target.fullName()+" denied to "+who.Login+".", http.StatusForbidden)
		return
	}
	if service != "/git-receive-pack" {
		target.git.Serve(w, r, service)
		return
	}
	// The response waits until GitHub has processed the push, so that the client that pushed reads its own
	// write. GitHub processes it even if the client is gone.
	held := httptest.NewRecorder()
	ctx := context.WithoutCancel(r.Context())
	target.git.Serve(held, r.WithContext(ctx), service)
	if err := s.do(func() { s.noticeRefs(ctx, target, who) }); err != nil {
		http.Error(w, "githubsim: "+err.Error(), http.StatusInternalServerError)
		return
	}
	maps.Copy(w.Header(), held.Header())
	w.WriteHeader(held.Code)
	w.Write(held.Body.Bytes())
}

// mayPush reports whether who can push to r: by permission, or because r is a fork whose owner lets maintainers
// of the parent modify a pull request.
func (s *Sim) mayPush(r *repo, who *account) bool {
	if r.canWrite(who) {
		return true
	}
	return r.parent != nil && r.parent.canWrite(who) && slices.ContainsFunc(r.parent.sortedPulls(), func(p *pull) bool {
		return p.headRepo == r && !p.closed && p.maintainerCanModify
	})
}
