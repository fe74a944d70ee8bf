package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/relay/server"
	"touchstone/worktree/await"
)

// program finds a program that a test drives. Without it, the test says so loudly.
func program(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("none of %q is installed, and CI has to have it", names)
	}
	t.Skipf("SKIPPED: %s is not installed (as on Debian: apt install %[1]s)", names[0])
	return ""
}

// watched runs a proxy in front of a relay that reports how each stream is encoded.
func watched(t *testing.T, r *relay) (address string, encodings <-chan string) {
	t.Helper()
	target, err := url.Parse(r.address)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 10)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) },
		ModifyResponse: func(response *http.Response) error {
			seen <- response.Header.Get("Content-Encoding")
			response.Header.Set("Access-Control-Allow-Origin", "*")
			return nil
		},
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL, seen
}

// Each event arrives before the next one is sent: none waits in a decoder.
func TestCompressedEventsArriveAtOnce(t *testing.T) {
	for name, follow := range map[string]func(t *testing.T, address string, seen chan<- string){
		"client": followWithClient, "curl": followWithCurl, "chromium": followWithChromium,
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, server.Config{})
			first := r.post(t, "before", `{}`)
			address, encodings := watched(t, r)
			seen := make(chan string, 10)
			follow(t, address, seen)
			if got := <-seen; got != first {
				t.Fatalf("the stream begins with %s, want %s", got, first)
			}
			if got := <-encodings; got != "gzip" {
				t.Fatalf("the stream's encoding is %q", got)
			}
			for i, payload := range []string{`{}`, `"` + strings.Repeat("x", 1<<20) + `"`, "{\"a\":\n1}", `[]`} {
				id := r.post(t, fmt.Sprint(i), payload)
				if got := <-seen; got != id {
					t.Fatalf("after %s was sent, %s arrived", id, got)
				}
			}
			r.stop() // with the stream open: it ends as a whole gzip stream
		})
	}
}

// followWithClient uses r3labs/sse, as every agent does.
func followWithClient(t *testing.T, address string, seen chan<- string) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = (&client.Client{URL: address}).Follow(ctx, client.Oldest, func(_ context.Context, m event.Message) error {
			if m.Event != nil {
				seen <- m.Event.ID.String()
			}
			return nil
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func followWithCurl(t *testing.T, address string, seen chan<- string) {
	curl := exec.CommandContext(context.Background(), program(t, "curl"), "-sSN", "--noproxy", "*", "--fail", "--compressed",
		address+"/events?after=oldest")
	out, err := curl.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	curl.Stderr = t.Output()
	must(t, curl.Start())
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 2<<20)
		for event := false; lines.Scan(); {
			id, ok := strings.CutPrefix(lines.Text(), "id: ")
			if ok && event {
				seen <- id
			}
			event = !ok && (event || strings.HasPrefix(lines.Text(), "event: "))
		}
	}()
	t.Cleanup(func() {
		<-read
		if err := curl.Wait(); err != nil { // it checks the stream's end
			t.Errorf("curl: %v", err)
		}
	})
}

// page follows the relay as a web page does and reports each event by a request.
const page = `<!doctype html><script>
const events = new EventSource(%q);
events.addEventListener("github.push", e => fetch("/seen?id=" + e.lastEventId));
</script>`

func followWithChromium(t *testing.T, address string, seen chan<- string) {
	browser := program(t, "chromium", "chromium-browser", "google-chrome")
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, page, address+"/events?after=oldest")
		case "/seen":
			seen <- r.URL.Query().Get("id")
		}
	}))
	profile, err := os.MkdirTemp("", "relay-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	chromium := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", "--no-first-run", "--user-data-dir="+profile, "--remote-debugging-port=0", pages.URL)
	// It has processes of its own, which it ends only if it is asked to.
	chromium.Cancel = func() error { return chromium.Process.Signal(syscall.SIGTERM) }
	chromium.WaitDelay = 10 * time.Second
	must(t, chromium.Start())
	t.Cleanup(func() {
		cancel()
		_ = chromium.Wait() // it was interrupted
		pages.Close()
		await.Until(t, "Chromium's own processes to write no more", func() bool { return os.RemoveAll(profile) == nil })
	})
}

func TestStreamIsCompressedOnlyWhereAccepted(t *testing.T) {
	r := start(t, server.Config{})
	for accept, want := range map[string]string{
		"": "", "gzip": "gzip", "br, gzip;q=0.5": "gzip", "*": "gzip", "identity": "",
		"gzip;q=0": "", "gzip;q=x": "", "*;q=0, GZIP ; Q=1": "gzip", "*, gzip;q=0": "",
	} {
		response, _ := do(t, http.DefaultClient, http.MethodHead, r.address+"/events", "", http.Header{"Accept-Encoding": {accept}})
		if got := response.Header.Get("Content-Encoding"); got != want || response.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: encoded as %q, want %q; header %v", accept, got, want, response.Header)
		}
	}
}
