package githubsim

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cgi"
	"strings"
)

// maxPush bounds a request of git's, which is buffered because CGI cannot take
// a chunked body.
const maxPush = 256 << 20

// gitService names the smart HTTP service a path is for, or "".
// https://git-scm.com/docs/http-protocol
func gitService(path string) string {
	for _, service := range []string{"/info/refs", "/git-upload-pack", "/git-receive-pack"} {
		if strings.HasSuffix(path, service) && strings.Count(path, "/") == 2+strings.Count(service, "/") {
			return service
		}
	}
	return ""
}

func (s *Sim) serveGit(w http.ResponseWriter, r *http.Request, service string) {
	owner, name, _ := strings.Cut(strings.Trim(strings.TrimSuffix(r.URL.Path, service), "/"), "/")
	who := signedIn(r)
	push := service == "/git-receive-pack" || r.URL.Query().Get("service") == "git-receive-pack"

	s.mu.Lock()
	target := s.findRepo(owner, strings.TrimSuffix(name, ".git"))
	readable := target != nil && (!target.private || who != nil && target.permission(who) != "none")
	writable := target != nil && who != nil && s.mayPush(target, who)
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
		s.runBackend(w, r, target, who, service)
		return
	}
	// The answer waits until GitHub's side of the push is done, so that whoever
	// pushed reads its own write. It is done even if the client no longer listens.
	held := &heldResponse{header: http.Header{}}
	ctx := context.WithoutCancel(r.Context())
	s.runBackend(held, r.WithContext(ctx), target, who, service)
	s.mu.Lock()
	err := s.noticeRefs(ctx, target, who)
	s.mu.Unlock()
	if err != nil {
		http.Error(w, "githubsim: "+err.Error(), http.StatusInternalServerError)
		return
	}
	held.sendTo(w)
}

// mayPush tells whether who can push to r: by permission, or to a fork whose
// owner lets maintainers of the parent modify a pull request.
func (s *Sim) mayPush(r *repo, who *account) bool {
	if r.canWrite(who) {
		return true
	}
	if r.parent == nil || !r.parent.canWrite(who) {
		return false
	}
	for _, p := range r.parent.pulls {
		if p.headRepo == r && !p.closed && p.maintainerCanModify {
			return true
		}
	}
	return false
}

func (s *Sim) runBackend(w http.ResponseWriter, r *http.Request, target *repo, who *account, service string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPush))
	if err != nil {
		http.Error(w, "The push is too large.", http.StatusRequestEntityTooLarge)
		return
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	r.Header.Del("Authorization")
	r.URL.Path, r.URL.RawPath = service, ""
	env := gitEnv("GIT_PROJECT_ROOT="+target.git.dir, "GIT_HTTP_EXPORT_ALL=1")
	if who != nil {
		env = append(env, "REMOTE_USER="+who.Login)
	}
	backend := &cgi.Handler{Path: s.gitPath, Args: []string{"http-backend"}, Dir: target.git.dir, Env: env, Stderr: io.Discard}
	backend.ServeHTTP(w, r)
}
