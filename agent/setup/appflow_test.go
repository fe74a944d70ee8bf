package setup

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"touchstone/agent/forge"
)

// open asks a page as a browser would that is told the name of its host, with a cookie.
func open(t *testing.T, page, host string, cookies []*http.Cookie) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		request.Host = host
	}
	for _, c := range cookies {
		request.AddCookie(c)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response
}

// TestPageIsForItsBrowserAlone checks that a web page that makes its own name resolve to this machine sees
// nothing, and that a code without this run's state creates no App.
func TestPageIsForItsBrowserAlone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	pages := make(chan string, 1)
	ended := make(chan error, 1)
	flow := AppFlow{
		GitHub: forge.Config{}, Manifest: func(string) forge.Manifest { return forge.Manifest{Name: "touchstone-acme"} },
		Ready: func(page string) { pages <- page },
		Take:  func(forge.Registered) error { t.Error("an App is taken"); return nil },
	}
	go func() { ended <- flow.Run(ctx) }()
	page := <-pages
	if got := open(t, page, "example.com", nil).StatusCode; got != http.StatusMisdirectedRequest {
		t.Errorf("another host's name: %d", got)
	}
	shown := open(t, page, "", nil)
	if shown.StatusCode != http.StatusOK {
		t.Fatalf("the page: %d", shown.StatusCode)
	}
	made, err := shown.Request.URL.Parse("/made?code=0123&state=another")
	if err != nil {
		t.Fatal(err)
	}
	if got := open(t, made.String(), "", nil).StatusCode; got != http.StatusForbidden {
		t.Errorf("a code from another browser: %d", got)
	}
	if got := open(t, made.String(), "", shown.Cookies()).StatusCode; got != http.StatusBadRequest {
		t.Errorf("a code without this run's state: %d", got)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}
