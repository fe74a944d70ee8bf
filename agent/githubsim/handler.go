package githubsim

import (
	"bytes"
	"context"
	"crypto/subtle"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"touchstone/agent/githubsim/bare"
)

// hourlyLimit is GitHub's limit of requests per hour for a signed-in user.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
const hourlyLimit = 5000

type contextKey struct{}

// signedIn returns the account that makes the request; nil without a valid token.
func signedIn(r *http.Request) *account {
	a, _ := r.Context().Value(contextKey{}).(*account)
	return a
}

// Handler serves REST below / and /api/v3/, GraphQL at /graphql and /api/graphql, and git below /OWNER/NAME.git/.
// The process that listens must also call Run.
func (s *Sim) Handler() http.Handler { return http.HandlerFunc(s.serve) }

func (s *Sim) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", s.Now().Format(http.TimeFormat))
	if strings.HasPrefix(r.URL.Path, logs) {
		s.serveLog(w, r)
		return
	}
	if s.pages(w, r) {
		return
	}
	who, given, tried, refused := s.authenticate(r)
	login := ""
	if who != nil {
		login = who.Login
	}
	fault := s.nextFault(login, r)
	if fault.Drop == DropAfter {
		w = &heldResponse{header: http.Header{}}
		defer panic(http.ErrAbortHandler)
	}
	if fault.Done != nil {
		defer fault.Done()
	}
	switch {
	case fault.Drop == DropBefore:
		panic(http.ErrAbortHandler)
	case fault.Status != 0:
		if fault.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int((fault.RetryAfter+time.Second-1)/time.Second)))
		}
		writeRefusal(w, fault.refusal())
		return
	}
	if refused != nil {
		writeRefusal(w, refused)
		return
	}
	r = r.WithContext(context.WithValue(context.WithValue(r.Context(), contextKey{}, who), grantKey{}, given))
	if service := bare.Service(r.URL.Path); service != "" {
		s.serveGit(w, r, service)
		return
	}
	if who == nil && strings.HasPrefix(strings.TrimPrefix(r.URL.Path, "/api/v3"), "/app-manifests/") {
		http.StripPrefix(strings.TrimSuffix(r.URL.Path[:strings.Index(r.URL.Path, "/app-manifests/")], "/"), s.mux).ServeHTTP(w, r)
		return
	}
	if who == nil {
		message := "Requires authentication"
		if tried {
			message = "Bad credentials"
		}
		writeRefusal(w, refuse(http.StatusUnauthorized, "%s", message))
		return
	}
	s.serveAPI(w, r, who)
}

func (s *Sim) serveAPI(w http.ResponseWriter, r *http.Request, who *account) {
	limit := s.spend(who)
	limit.describe(w.Header())
	if limit.remaining < 0 {
		writeRefusal(w, refuse(http.StatusForbidden, "API rate limit exceeded for %s.", who.Login))
		return
	}
	prefix := ""
	switch {
	case r.URL.Path == "/api/graphql":
		prefix = "/api"
	case strings.HasPrefix(r.URL.Path, "/api/v3/"):
		prefix = "/api/v3"
	}
	http.StripPrefix(prefix, s.byNumber(s.mux)).ServeHTTP(w, r)
}

type grantKey struct{}

// granted returns what an installation's token allows; nil for other tokens.
func granted(r *http.Request) *grant {
	g, _ := r.Context().Value(grantKey{}).(*grant)
	return g
}

// authenticate finds the account of a bearer token or a Basic password, and what an installation's token
// allows. tried reports whether the request carried any credential; refused is GitHub's more specific refusal,
// if any.
func (s *Sim) authenticate(r *http.Request) (who *account, given *grant, tried bool, refused error) {
	_, token, isBasic := r.BasicAuth()
	if !isBasic {
		header := r.Header.Get("Authorization")
		scheme, rest, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "bearer") && !strings.EqualFold(scheme, "token") {
			return nil, nil, header != "", nil
		}
		token = strings.TrimSpace(rest)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, err := s.appOf(token); a != nil || err != nil {
		return a, nil, true, err
	}
	if g, err := s.grantOf(token); g != nil {
		return g.of.app, g, true, nil
	} else if err != nil {
		return nil, nil, true, err
	}
	for _, a := range s.accounts {
		if subtle.ConstantTimeCompare([]byte(a.Token), []byte(token)) == 1 {
			who = a
		}
	}
	return who, nil, true, nil
}

// limit is an account's state in the current hour.
type limit struct {
	used, remaining int
	reset           time.Time
}

func (s *Sim) spend(a *account) limit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.Now(); at.After(a.reset) {
		a.used, a.reset = 0, at.Add(time.Hour)
	}
	a.used++
	return limit{used: a.used, remaining: hourlyLimit - a.used, reset: a.reset}
}

func (l limit) describe(h http.Header) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(hourlyLimit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, l.remaining)))
	h.Set("X-RateLimit-Used", strconv.Itoa(l.used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(l.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
}

// heldResponse holds a response back until it is sent, or dropped.
type heldResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *heldResponse) Header() http.Header         { return w.header }
func (w *heldResponse) Write(p []byte) (int, error) { return w.body.Write(p) }
func (w *heldResponse) WriteHeader(status int)      { w.status = status }

func (w *heldResponse) sendTo(to http.ResponseWriter) {
	maps.Copy(to.Header(), w.header)
	if w.status != 0 {
		to.WriteHeader(w.status)
	}
	to.Write(w.body.Bytes())
}
