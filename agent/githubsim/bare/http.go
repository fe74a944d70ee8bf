package bare

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// maxPush bounds a request of git's, in bytes.
const maxPush = 256 << 20

// Service names the smart HTTP service a path is for, or "".
// https://git-scm.com/docs/http-protocol
func Service(path string) string {
	for _, service := range []string{"/info/refs", "/git-upload-pack", "/git-receive-pack"} {
		if strings.HasSuffix(path, service) && strings.Count(path, "/") == 2+strings.Count(service, "/") {
			return service
		}
	}
	return ""
}

// Serve lets git's own programs answer, as git http-backend does, but without
// that process in between.
// https://git-scm.com/docs/gitprotocol-http
func (g Repo) Serve(w http.ResponseWriter, r *http.Request, service string) {
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
	cmd := exec.CommandContext(r.Context(), g.path, append(append([]string{program}, args...), g.Dir)...)
	cmd.Stdin, cmd.Stdout, cmd.Env = body, w, gitEnv("GIT_PROTOCOL="+version)
	// Version 2 begins with what the server can do, not with its refs.
	if kind == "advertisement" && program == "upload-pack" && strings.Contains(version, "version=2") {
		g.greet(w, cmd)
		return
	}
	// What git has to say about a failure is in its answer already.
	_ = cmd.Run()
}

// greetings are how git upload-pack begins, by the configuration it runs under.
var greetings sync.Map

// greet writes what cmd prints, which is the same for equal configurations.
func (g Repo) greet(w http.ResponseWriter, cmd *exec.Cmd) {
	config, err := os.ReadFile(filepath.Join(g.Dir, "config"))
	known, found := greetings.Load(string(config))
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
	greetings.Store(string(config), known)
	_, _ = w.Write(known.([]byte)) // fails if the client is gone
}
