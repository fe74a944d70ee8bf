package githubsim

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// maxPush bounds a request of git's, in bytes.
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
	if moved := s.moved[strings.ToLower(owner+"/"+strings.TrimSuffix(name, ".git"))]; target == nil && moved != nil {
		to := s.url + "/" + moved.fullName() + ".git" + service + "?" + r.URL.RawQuery
		s.mu.Unlock()
		http.Redirect(w, r, to, http.StatusMovedPermanently)
		return
	}
	readable := target != nil && (!target.private || who != nil && target.permission(who) != "none" && granted(r).covers(target))
	writable := target != nil && who != nil && s.mayPush(target, who) && granted(r).covers(target)
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
		s.runBackend(w, r, target, service)
		return
	}
	// The answer waits until GitHub's side of the push is done, so that the client
	// that pushed reads its own write. It is done even if the client no longer
	// listens.
	held := &heldResponse{header: http.Header{}}
	ctx := context.WithoutCancel(r.Context())
	s.runBackend(held, r.WithContext(ctx), target, service)
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

// runBackend lets git's own programs answer, as git http-backend does, but without
// that process in between.
// https://git-scm.com/docs/gitprotocol-http
func (s *Sim) runBackend(w http.ResponseWriter, r *http.Request, target *repo, service string) {
	program, kind := strings.TrimPrefix(service, "/git-"), "result"
	args := []string{"--stateless-rpc"}
	if service == "/info/refs" {
		program, kind = strings.TrimPrefix(r.URL.Query().Get("service"), "git-"), "advertisement"
		args = append(args, "--advertise-refs")
	}
	if program != "upload-pack" && program != "receive-pack" {
		http.Error(w, "The simulator speaks git's smart protocol only.", http.StatusForbidden)
		return
	}
	body := http.MaxBytesReader(w, r.Body, maxPush)
	if r.Header.Get("Content-Encoding") == "gzip" {
		plain, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, "The request is not gzip.", http.StatusBadRequest)
			return
		}
		body = plain
	}
	version := r.Header.Get("Git-Protocol")
	w.Header().Set("Content-Type", "application/x-git-"+program+"-"+kind)
	w.Header().Set("Cache-Control", "no-cache")
	if kind == "advertisement" && !strings.Contains(version, "version=2") {
		line := "# service=git-" + program + "\n"
		fmt.Fprintf(w, "%04x%s0000", len(line)+4, line)
	}
	cmd := exec.CommandContext(r.Context(), s.gitPath, append(append([]string{program}, args...), target.git.dir)...)
	cmd.Stdin, cmd.Stdout, cmd.Env = body, w, gitEnv("GIT_PROTOCOL="+version)
	// Version 2 begins with what the server can do, not with its refs.
	if kind == "advertisement" && program == "upload-pack" && strings.Contains(version, "version=2") {
		s.greet(w, cmd, target)
		return
	}
	// What git has to say about a failure is in its answer already.
	_ = cmd.Run()
}

// greet writes what cmd prints, which is the same for equal configurations.
func (s *Sim) greet(w http.ResponseWriter, cmd *exec.Cmd, target *repo) {
	config, err := os.ReadFile(filepath.Join(target.git.dir, "config"))
	known, found := s.greetings.Load(string(config))
	if !found && err == nil {
		var greeting bytes.Buffer
		cmd.Stdout = &greeting
		err = cmd.Run()
		known = greeting.Bytes()
	}
	if err != nil {
		http.Error(w, "githubsim: "+err.Error(), http.StatusInternalServerError)
		return
	}
	s.greetings.Store(string(config), known)
	_, _ = w.Write(known.([]byte)) // fails if the client is gone
}
