package setup

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"touchstone/agent/forge"
)

// AppFlow lets a person create a GitHub App in the browser, with the manifest flow on this machine's loopback
// (https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest#implementing-the-github-app-manifest-flow):
// our page posts the manifest to GitHub, the person agrees there, and GitHub redirects the browser back with
// a code for the App. AppFlow writes nothing.
type AppFlow struct {
	// GitHub is where the App is created.
	GitHub forge.Config
	// Organization is the owner of the App; empty means the person who is signed in to GitHub.
	Organization string
	// Manifest returns the App's description, for the address to which GitHub redirects the browser.
	Manifest func(redirect string) forge.Manifest
	// Ready is called with the address of our page once it is served.
	Ready func(page string)
	// Take stores the App. The browser waits until Take returns, and shows the person its error.
	Take func(forge.Registered) error
}

//go:embed appflow.html
var appPageText string

// appPage posts the manifest as soon as it is shown, or with a button if scripts are disabled.
var appPage = template.Must(template.New("").Parse(appPageText))

// flowTimeout bounds a browser's request to the page, including the exchange of the code.
const flowTimeout = 2 * time.Minute

// Run serves the page until the App is taken or ctx ends. A code without this run's own state, such as from
// another page or an earlier run, is refused and changes nothing.
func (f AppFlow) Run(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the browser: %w", err)
	}
	state := rand.Text()
	home := "http://" + listener.Addr().String()
	done := make(chan error, 1)
	mux := http.NewServeMux()
	// The page contains the state. Its address is random because other programs on this machine can reach the
	// port too.
	start := "/" + rand.Text()
	var seat seat
	mux.HandleFunc("GET "+start, func(w http.ResponseWriter, r *http.Request) {
		if !seat.take(w, r) {
			http.Error(w, errOpenedTwice.Error(), http.StatusForbidden)
			end(done, errOpenedTwice)
			return
		}
		f.show(w, home, state)
	})
	mux.HandleFunc("GET /made", func(w http.ResponseWriter, r *http.Request) {
		if !seat.holds(r) {
			http.Error(w, "This answer belongs to the browser that opened the page of touchstone app create.", http.StatusForbidden)
			return
		}
		f.made(w, r, state, done)
	})
	server := &http.Server{Handler: only(listener.Addr().String(), mux), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: flowTimeout}
	go func() { _ = server.Serve(listener) }() // Serve ends with Shutdown
	defer func() {
		// The browser must still receive the result.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx)
	}()
	f.Ready(home + start)
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// only refuses requests that name another host: a web page can make its own name resolve to a loopback
// address.
func only(host string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		if r.Host != host {
			http.Error(w, "This page is for this machine alone.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (f AppFlow) show(w http.ResponseWriter, home, state string) {
	manifest := f.Manifest(home + "/made")
	text, err := json.Marshal(manifest)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	action, err := f.GitHub.RegisterURL(f.Organization, state)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	nonce := rand.Text()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; script-src 'nonce-"+nonce+"'")
	_ = appPage.Execute(w, map[string]any{"Action": template.URL(action), "Manifest": string(text), "Name": manifest.Name, "Nonce": nonce})
}

// made accepts the code, once, and redirects the browser to the App's installation page.
func (f AppFlow) made(w http.ResponseWriter, r *http.Request, state string, done chan<- error) {
	given, code := r.URL.Query().Get("state"), r.URL.Query().Get("code")
	if subtle.ConstantTimeCompare([]byte(given), []byte(state)) != 1 || code == "" {
		http.Error(w, "This answer belongs to another run of touchstone app create. Go on in the tab that the last run opened.",
			http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), flowTimeout)
	defer cancel()
	app, err := forge.Register(ctx, f.GitHub, code)
	if err == nil && f.Organization != "" && !strings.EqualFold(app.Owner, f.Organization) {
		err = fmt.Errorf("the App %d belongs to %.60q and not to %s; its owner can make keys for it, so it is not taken over", app.ID, app.Owner,
			f.Organization)
	}
	if err == nil {
		err = f.Take(app)
	}
	if err != nil {
		http.Error(w, "The App could not be taken over: "+err.Error(), http.StatusBadGateway)
	} else {
		http.Redirect(w, r, app.Page+"/installations/new", http.StatusFound)
	}
	end(done, err)
}

func end(done chan<- error, err error) {
	select {
	case done <- err:
	default: // it has already ended
	}
}

// errOpenedTwice ends a run, because it is unknown which of the two is the person's browser.
var errOpenedTwice = errors.New("the page was opened twice, by two browsers or by another program that read its address, so that " +
	"nothing was taken over: run this again, and open the page in one browser alone")

// seat is the flow's only browser, identified by a cookie from the time it opens the page. The page's address
// is in the browser's command line, which other users of this machine can read. If another user opens the
// page first and is quick, that user can only bring in an App of their own, and the App's owner gives it
// away.
type seat struct {
	mu     sync.Mutex
	cookie string
}

const seatCookie = "touchstone_app"

// take gives the page to the first browser, and to that browser again.
func (s *seat) take(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cookie == "" {
		s.cookie = rand.Text()
		http.SetCookie(w, &http.Cookie{Name: seatCookie, Value: s.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
		return true
	}
	return s.is(r)
}

func (s *seat) holds(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cookie != "" && s.is(r)
}

func (s *seat) is(r *http.Request) bool {
	cookie, err := r.Cookie(seatCookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(s.cookie)) == 1
}

// Browse opens an address in this user's browser, if there is one.
func Browse(ctx context.Context, address string) error {
	if _, err := url.Parse(address); err != nil {
		return errors.New("that is no address")
	}
	command := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		command[0] = "open"
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return exec.CommandContext(ctx, command[0], command[1:]...).Run()
}
