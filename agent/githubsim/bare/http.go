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

// maxPush limits a git request, in bytes.
const maxPush = 256 << 20

// Service returns the smart HTTP service that a path belongs to, or "".
// https://git-scm.com/docs/http-protocol
func Service(path string) string {
	for _, service := range []string{"/info/refs", "/git-upload-pack", "/git-receive-pack"} {
		if strings.HasSuffix(path, service) && strings.Count(path, "/") == 2+strings.Count(service, "/") {
			return service
		}
	}
	return ""
}

// Serve lets git's own programs answer, like git http-backend, but without that extra process.
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
	// Version 2 begins with the server's capabilities instead of its refs.
	if kind == "advertisement" && program == "upload-pack" && strings.Contains(version, "version=2") {
		g.greet(w, cmd)
		return
	}
	// git's answer already contains its report of a failure.
	_ = cmd.Run()
}

// greetings are the first answers of git upload-pack, by the repository's configuration.
var greetings sync.Map

// greet writes the output of cmd, which is the same for equal configurations.
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
