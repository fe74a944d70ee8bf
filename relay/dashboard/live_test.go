package dashboard_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"touchstone/relay/dashboard/chromium"
)

// front is a proxy before a relay, as on the way to a browser elsewhere.
type front struct {
	*httptest.Server

	mu   sync.Mutex
	held chan struct{} // not nil while nothing of /changes gets through; closed to let it through again
	down bool          // it answers itself, because the relay is away
	skew time.Duration // by how much the relay's clock is ahead of the browser's, by the date of /changes
}

// before starts a proxy before a relay. A page behind it takes a connection for dead after a second, instead
// of the time in which a relay's heartbeats come.
func before(t *testing.T, r *relay) *front {
	t.Helper()
	to, err := url.Parse(r.address)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{}
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(to); p.Out.Host = p.In.Host }}
	silence := regexp.MustCompile(`const silence = \d+;`)
	proxy.ModifyResponse = func(response *http.Response) error {
		switch response.Request.URL.Path {
		case "/changes":
			response.Body = &holding{f, response.Body, response.Request}
			response.Header.Set("Date", time.Now().Add(f.skew).UTC().Format(http.TimeFormat))
		case "/static/worker.js":
			text, err := io.ReadAll(response.Body)
			if err != nil {
				return err
			}
			text = silence.ReplaceAll(text, []byte("const silence = 1000;"))
			response.Header.Set("Content-Length", strconv.Itoa(len(text)))
			response.Body = io.NopCloser(bytes.NewReader(text))
		}
		return nil
	}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		f.mu.Lock()
		down := f.down
		f.mu.Unlock()
		if down {
			http.Error(w, "<html><body><h1>502 Bad Gateway</h1></body></html>", http.StatusBadGateway)
			return
		}
		request.Header.Del("Accept-Encoding")
		proxy.ServeHTTP(w, request)
	}))
	t.Cleanup(f.Close)
	t.Cleanup(f.CloseClientConnections)
	return f
}

// hold lets nothing of /changes through, without ending a connection, until the returned function is called.
func (f *front) hold() (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := make(chan struct{})
	f.held = held
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.held = nil
		close(held)
	}
}

func (f *front) set(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

// holding is the body of an answer that a front can hold back.
type holding struct {
	front *front
	io.ReadCloser
	request *http.Request
}

func (h *holding) Read(into []byte) (int, error) {
	n, err := h.ReadCloser.Read(into)
	h.front.mu.Lock()
	held := h.front.held
	h.front.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-h.request.Context().Done():
		}
	}
	return n, err
}

// A page whose connection has died without an end, as after a laptop's sleep, says that it is not connected,
// and connects again.
func TestADeadConnectionIsNotShownAsLive(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	f := before(t, r)
	r.send("pull_request", opened(1, 5, "The first", "alice", "one"))
	b := chromium.Open(t, f.URL)
	b.Run(b.Go("/"), chromium.Visible(".live.on"))
	release := f.hold()
	r.send("pull_request", opened(2, 1, "The second", "alice", "two"))
	b.Run(chromium.Visible(".live.off"))
	release()
	b.Run(chromium.Visible(`[id="p-acme/app-2"]`), chromium.Visible(".live.on"))
	b.Clean("the board")
}

// A page outlives an answer that is not the relay's, such as a proxy's while the relay is away: it stays as it
// is, says that it is not up to date, and catches up later.
func TestAPageOutlivesAnAbsentRelay(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	f := before(t, r)
	r.send("pull_request", opened(1, 5, "The first", "alice", "one"))
	b := chromium.Open(t, f.URL)
	b.Run(b.Go("/"), chromium.Visible(".live.on"))
	f.set(true)
	r.send("pull_request", opened(2, 1, "The second", "alice", "two"))
	var text string
	b.Run(chromium.Visible(".live.off"), chromedp.Text("body", &text, chromedp.ByQuery))
	if !strings.Contains(text, "The first") {
		t.Errorf("while the relay is away, the page shows %s", text)
	}
	f.set(false)
	b.Run(chromium.Visible(`[id="p-acme/app-2"]`), chromium.Visible(".live.on"))
	b.Clean("the board")
}

// What changes without an event, such as who follows the log, shows on a health page that stays open.
func TestAnOpenHealthPageIsAskedForAgain(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	b := chromium.Open(t, r.address)
	b.Run(b.Go("/health"), chromium.Visible(".live.on"), chromium.Holds(`document.body.textContent.includes("Nobody follows the log")`))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.address+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	b.Run(chromium.Holds(`document.body.textContent.includes("without a token")`))
	b.Clean("the health page")
}

// A browser whose clock is wrong shows how long things last by the relay's clock, in every tab.
func TestAgesFollowTheRelaysClock(t *testing.T) {
	t.Parallel()
	r := startRelay(t)
	f := before(t, r)
	f.skew = 3*time.Hour + 30*time.Minute
	r.send("pull_request", opened(1, 5, "The first", "alice", "one"))
	b := chromium.Open(t, f.URL)
	const age = `document.querySelector("tr time[data-ago]")?.textContent === "3 h"`
	b.Run(b.Go("/"), chromium.Holds(age))
	another := b.Another()
	another.Run(another.Go("/"), chromium.Holds(age))
	b.Clean("the board")
}
