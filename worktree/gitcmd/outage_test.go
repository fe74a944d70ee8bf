package gitcmd_test

import (
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"touchstone/worktree/gitcmd"
)

// TestOutagesOnTheWay has git meet what a network, a proxy or a balancer answers when it is down: the request
// itself is fine.
func TestOutagesOnTheWay(t *testing.T) {
	mirror := t.TempDir()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(git, "init", "-q", "--bare", mirror).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	answering := func(handler http.HandlerFunc) string {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		return server.URL
	}
	abort := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	refuse := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	reset := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
	streams := httptest.NewUnstartedServer(http.HandlerFunc(abort))
	streams.EnableHTTP2 = true
	streams.StartTLS()
	t.Cleanup(streams.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: streams.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	const away = "https://github.example.invalid"
	for name, test := range map[string]struct {
		url, proxy string
		outage     bool
	}{
		"the host has no address":           {away, "", true},
		"a reset connection":                {answering(reset), "", true},
		"a closed connection":               {answering(abort), "", true},
		"a broken stream of HTTP/2":         {streams.URL, "", true},
		"the proxy has no address":          {away, "http://proxy.example.invalid:3128", true},
		"the proxy is down":                 {away, "http://127.0.0.1:9", true},
		"the proxy closes":                  {away, answering(abort), true},
		"the proxy resets":                  {away, answering(reset), true},
		"the proxy cannot reach the host":   {away, answering(refuse(http.StatusBadGateway)), true},
		"the proxy waits for the host":      {away, answering(refuse(http.StatusGatewayTimeout)), true},
		"the proxy wants a password":        {away, answering(refuse(http.StatusProxyAuthRequired)), false},
		"the proxy does not allow the host": {away, answering(refuse(http.StatusForbidden)), false},
		"the certificate is nobody's":       {"https://" + streams.Listener.Addr().String(), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HTTPS_PROXY", test.proxy)
			t.Setenv("NO_PROXY", "127.0.0.1")
			if name != "the certificate is nobody's" {
				t.Setenv("GIT_SSL_CAINFO", ca)
			}
			repo := gitcmd.Repo{Git: git, Mirror: mirror, Dir: mirror}
			list := gitcmd.Command{Args: []string{"ls-remote", test.url + "/a/b"}, Remote: &gitcmd.Remote{URL: test.url}}
			_, err := repo.OutputOf(t.Context(), list)
			if errors.Is(err, gitcmd.ErrUnavailable) != test.outage {
				t.Errorf("an outage is %t: %v", test.outage, err)
			}
		})
	}
}
