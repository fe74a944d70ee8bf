package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"touchstone/relay/dashboard"
	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/relay/internal/sqlitefile"
	"touchstone/relay/token"
	"touchstone/worktree/span"
)

// Page configures the page at / and the API below /api/v1.
type Page struct {
	// File is where the projection of the log is kept; it can be deleted at any time.
	File string
	// Reviewers are the logins whose reviews count.
	Reviewers []string
	// NeedsHuman is the label with which the agents call a person, as in projection.Config.
	NeedsHuman string
	// GitHub are the sources whose events have GitHub's shape.
	GitHub []string
	// Store and Version are for display.
	Store, Version string
}

// page is the relay's page and the projection behind it.
type page struct {
	*dashboard.Dashboard
	projection *projection.Projection
}

// newPage creates the page.
func newPage(ctx context.Context, s *Server) (*page, error) {
	config := s.config.Page
	read, err := projection.Open(ctx, projection.Config{
		Path: config.File, Log: s.hub, Store: s.config.Store, Reviewers: config.Reviewers,
		NeedsHuman: config.NeedsHuman, GitHub: config.GitHub,
	})
	if err != nil {
		return nil, err
	}
	shown := dashboard.Config{Projection: read, Relay: inside{s}, Reviewers: config.Reviewers, Sources: config.GitHub}
	return &page{dashboard.New(shown), read}, nil
}

// run keeps the projection and the open pages up to date until ctx ends, and closes the projection.
func (p *page) run(ctx context.Context) error {
	if p == nil {
		return nil
	}
	var group errgroup.Group
	group.Go(func() error { return p.projection.Run(ctx) })
	group.Go(func() error { return p.Run(ctx) })
	return errors.Join(group.Wait(), p.projection.Close())
}

// pageRoutes adds the routes of the page.
func (s *Server) pageRoutes(mux *http.ServeMux) {
	for pattern, answer := range s.page.Pages {
		mux.HandleFunc(pattern, s.showPage(answer))
	}
	for pattern, answer := range s.page.API {
		handler := s.readers(answerAPI(answer))
		if !strings.HasPrefix(pattern, "GET ") {
			handler = s.brief(handler)
		}
		mux.HandleFunc(pattern, handler)
	}
	mux.HandleFunc("GET /changes", s.readers(s.streamChanges))
	mux.HandleFunc("GET /static/{name...}", dashboard.Static)
	mux.HandleFunc("GET /sign-in", s.showSignIn)
	mux.HandleFunc("POST /sign-in", s.brief(s.signIn))
	mux.HandleFunc("POST /sign-in/link", s.readers(s.makeLink))
	mux.HandleFunc("POST /sign-out", s.signOut)
	mux.HandleFunc("POST /log/{cursor}/send", s.form(s.sendAgain))
	mux.HandleFunc("POST /log/{cursor}/redeliver", s.form(s.redeliver))
	mux.HandleFunc("POST /health/settings", s.form(s.changeSettings))
}

func viewer(grant *token.Grant) dashboard.Viewer {
	return dashboard.Viewer{Token: grant.ID, Name: grant.Name, Scope: grant.Scope(), Admin: grant.ID != "" && grant.Role == token.Admin}
}

// answerAPI answers programs. A request that changes something must not come from another origin's page.
func answerAPI(answer dashboard.Handler) func(w http.ResponseWriter, r *http.Request, grant *token.Grant) {
	return func(w http.ResponseWriter, r *http.Request, grant *token.Grant) {
		if new(http.CrossOriginProtection).Check(r) != nil {
			refuse(w, http.StatusForbidden, crossOrigin)
			return
		}
		answer(w, r, viewer(grant))
	}
}

// showPage answers a browser, or redirects it to the sign-in.
func (s *Server) showPage(answer dashboard.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		signIn := "/sign-in"
		if r.URL.RequestURI() != "/" {
			signIn += "?to=" + url.QueryEscape(r.URL.RequestURI())
		}
		if grant, ok := s.admit(w, r, http.RedirectHandler(signIn, http.StatusSeeOther).ServeHTTP); ok {
			answer(w, r, viewer(grant))
		}
	}
}

// within returns to if it is a path on this site, otherwise "/": links from elsewhere may contain any
// address.
func within(to string) string {
	if u, err := url.Parse(to); err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.Contains(to, `\`) {
		return "/"
	}
	return to
}

func (s *Server) showSignIn(w http.ResponseWriter, r *http.Request) {
	if !s.config.Tokens.Required() {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	query := r.URL.Query()
	s.page.SignIn(w, r, http.StatusOK, query.Get("code"), within(query.Get("to")), "")
}

// maxFormBytes is far above a token and a path.
const maxFormBytes = 8 << 10

// signIn exchanges a token, or the code of a one-time link, for a session cookie.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
	if new(http.CrossOriginProtection).Check(r) != nil || r.ParseForm() != nil {
		s.page.SignIn(w, r, http.StatusForbidden, "", "/", "That request did not come from this page. Try again here.")
		return
	}
	to, text := within(r.PostForm.Get("to")), strings.TrimSpace(r.PostForm.Get("token"))
	problem := "That access token is not valid here: it may be incomplete, revoked, or from another relay."
	log := zerolog.Ctx(r.Context())
	if code := r.PostForm.Get("code"); code != "" {
		ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
		var err error
		text, err = s.sealer.redeem(ctx, code)
		cancel()
		if err != nil {
			log.Error().Err(err).Msg("cannot redeem a one-time link")
			s.page.SignIn(w, r, http.StatusServiceUnavailable, code, to, "The relay cannot redeem the link now; see the relay's log. "+
				"Try again, or sign in with an access token.")
			return
		}
		problem = "That link is used or expired: a link works once, within ten minutes. Create another one, or sign in with an access token."
	}
	grant, ok := s.config.Tokens.Check(text)
	switch {
	case !ok:
		status, now := http.StatusUnauthorized, time.Now()
		if n, since := s.failures.count(s.sender(r), now); n > maxFailures {
			status = http.StatusTooManyRequests
			w.Header().Set("Retry-After", fmt.Sprint(int(since.Add(failureWindow).Sub(now)/time.Second)+1))
		} else {
			log.Warn().Str("remote", r.RemoteAddr).Msg("sign-in refused")
		}
		s.page.SignIn(w, r, status, "", to, problem)
		return
	case grant.ID != "":
		if err := s.setSession(w, text); err != nil {
			log.Error().Err(err).Msg("cannot create a session")
			refuse(w, http.StatusInternalServerError, "the relay could not create the session; see the relay's log")
			return
		}
		log.Info().Str("token", grant.ID).Str("name", grant.Name).Msg("signed in")
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	if new(http.CrossOriginProtection).Check(r) != nil {
		refuse(w, http.StatusForbidden, crossOrigin)
		return
	}
	endSession(w)
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
}

// makeLink answers with a one-time link that signs a browser in with the token of the request.
func (s *Server) makeLink(w http.ResponseWriter, r *http.Request, grant *token.Grant) {
	if grant.ID == "" {
		refuse(w, http.StatusConflict, "this relay has no access tokens, so its page needs no sign-in")
		return
	}
	code, err := s.sealer.seal(s.credential(r), forLink, linkLife)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "cannot create the link")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	reply(w, http.StatusOK, map[string]string{"link": s.address(r) + "/sign-in?code=" + code})
}

// inside gives the page access to the relay.
type inside struct{ *Server }

// Head implements dashboard.Relay.
func (s inside) Head() event.Cursor {
	bounds := s.hub.Bounds()
	return event.Cursor{Log: bounds.Log, Seq: bounds.Head}
}

// healthTimeout is how long the health page waits for what the store has to tell.
const healthTimeout = 2 * time.Second

// Health implements dashboard.Relay.
func (s inside) Health(ctx context.Context, viewer dashboard.Viewer) dashboard.Health {
	bounds := s.hub.Bounds()
	h := dashboard.Health{
		Log: bounds.Log, Version: s.config.Page.Version, Head: s.Head().String(), Retention: "ever", Store: s.config.Page.Store,
		Damaged: s.hub.Damaged(),
	}
	if bounds.Head > bounds.Floor {
		h.Oldest = event.Cursor{Log: bounds.Log, Seq: bounds.Floor + 1}.String()
	}
	if s.config.Retention > 0 {
		h.Retention = span.Duration(s.config.Retention).String()
	}
	if err := s.hub.Ready(ctx); err != nil {
		h.Ready = "the relay cannot reach the store or write to it; see the relay's log"
	}
	if path, ok := StorePath(s.config.Page.Store); ok {
		h.StoreBytes = sqlitefile.Size(path)
	}
	h.FreeBytes = free(filepath.Dir(s.config.Page.File))
	// The page is for finding out what is wrong, so it shows what there is to show.
	missing := func(what string, err error) {
		s.faults.Answering(ctx, err, "cannot show "+what+" on the health page")
		h.Ready = cmp.Or(h.Ready, "the relay cannot read "+what+"; see the relay's log")
	}
	limited, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	if settings, err := s.hub.Settings(limited); err != nil {
		missing("the settings for all agents", err)
	} else {
		h.Settings, h.SettingsBy, h.SettingsAt = settings.Values, settings.By, settings.At
	}
	if !viewer.Admin && viewer.Token != "" {
		h.Store = ""
		return h
	}
	h.Hooks = s.hooks()
	for _, f := range s.metrics.followers.list() {
		h.Subscribers = append(h.Subscribers, dashboard.Subscriber{Token: f.name, Streams: f.streams, Behind: f.events})
	}
	var err error
	if h.Tokens, err = s.tokens(limited); err != nil {
		missing("the access tokens", err)
	}
	return h
}

// tokens returns the access tokens and invitations, without their secrets or hashes.
func (s *Server) tokens(ctx context.Context) ([]dashboard.Token, error) {
	known, uses, err := s.config.Tokens.List(ctx)
	if err != nil {
		return nil, err
	}
	var list []dashboard.Token
	for _, t := range known {
		scope := cmp.Or(strings.Join(slices.Concat(t.Repos, t.Sources), ", "), "everything")
		list = append(list, dashboard.Token{
			ID: t.ID, Name: t.Name, Role: string(t.Role), Scope: scope, Created: t.Created, LastUsed: uses[t.ID], Revoked: t.Revoked != nil,
			Invite: t.Invite != nil,
		})
	}
	return list, nil
}
