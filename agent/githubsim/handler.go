package githubsim

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"touchstone/agent/githubsim/bare"
)

// hourlyLimit is GitHub's limit of requests per hour for a signed-in user.
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
const hourlyLimit = 5000

// caller is who makes a request.
type caller struct {
	user  *account // nil without a valid token
	given *grant   // what an installation's token allows; nil for other tokens
	byKey bool     // whether an app authenticates as itself, by a JSON web token
}

type callerKey struct{}

func callerOf(r *http.Request) caller {
	by, _ := r.Context().Value(callerKey{}).(caller)
	return by
}

// Handler serves REST below / and /api/v3/, GraphQL at /graphql and /api/graphql, and git below /OWNER/NAME.git/.
// The process that listens must also call Run.
func (s *Sim) Handler() http.Handler {
	mux := s.pages()
	mux.HandleFunc("/", s.serve)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", s.Now().Format(http.TimeFormat))
		mux.ServeHTTP(w, r)
	})
}

func (s *Sim) serve(w http.ResponseWriter, r *http.Request) {
	by, tried, refused := s.authenticate(r)
	login := ""
	if by.user != nil {
		login = by.user.Login
	}
	fault := s.nextFault(login, r)
	if fault.Drop == DropAfter {
		w = httptest.NewRecorder()
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
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, by))
	if service := bare.Service(r.URL.Path); service != "" {
		s.serveGit(w, r, service)
		return
	}
	prefix := ""
	switch {
	case r.URL.Path == "/api/graphql":
		prefix = "/api"
	case strings.HasPrefix(r.URL.Path, "/api/v3/"):
		prefix = "/api/v3"
	}
	public := strings.HasPrefix(strings.TrimPrefix(r.URL.Path, prefix), "/app-manifests/")
	switch {
	case by.user != nil && !s.spend(by.user, w.Header()):
		writeRefusal(w, refuse(http.StatusForbidden, "API rate limit exceeded for %s.", login))
	case by.user != nil || public:
		http.StripPrefix(prefix, s.byNumber(s.mux)).ServeHTTP(w, r)
	case tried:
		writeRefusal(w, errBadCredentials)
	default:
		writeRefusal(w, refuse(http.StatusUnauthorized, "Requires authentication"))
	}
}

// authenticate finds who has a bearer token or a Basic password. A JSON web token must be a bearer token
// (https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api). tried reports whether the request
// carried any credential; refused is GitHub's more specific refusal, if any.
func (s *Sim) authenticate(r *http.Request) (by caller, tried bool, refused error) {
	_, token, isBasic := r.BasicAuth()
	isBearer := false
	if !isBasic {
		header := r.Header.Get("Authorization")
		scheme, rest, _ := strings.Cut(header, " ")
		if isBearer = strings.EqualFold(scheme, "bearer"); !isBearer && !strings.EqualFold(scheme, "token") {
			return caller{}, header != "", nil
		}
		token = strings.TrimSpace(rest)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if isBearer {
		if a, err := s.appOf(token); a != nil || err != nil {
			return caller{user: a, byKey: true}, true, err
		}
	}
	if g, err := s.grantOf(token); g != nil {
		return caller{user: g.of.app, given: g}, true, nil
	} else if err != nil {
		return caller{}, true, err
	}
	return caller{user: find(s.accounts, func(a *account) bool { return a.Token == token })}, true, nil
}

// spend counts a request of an account, and describes what is left of the hour in the response. It returns false
// if nothing was left.
func (s *Sim) spend(a *account, h http.Header) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.Now(); at.After(a.reset) {
		a.used, a.reset = 0, at.Add(time.Hour)
	}
	a.used++
	h.Set("X-RateLimit-Limit", strconv.Itoa(hourlyLimit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, hourlyLimit-a.used)))
	h.Set("X-RateLimit-Used", strconv.Itoa(a.used))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(a.reset.Unix(), 10))
	h.Set("X-RateLimit-Resource", "core")
	h.Set("X-GitHub-Media-Type", "github.v3; format=json")
	return a.used <= hourlyLimit
}
