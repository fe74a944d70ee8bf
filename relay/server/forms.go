package server

import (
	"errors"
	"net/http"

	"github.com/rs/zerolog"

	"touchstone/relay/dashboard"
	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/recovery"
	"touchstone/relay/token"
)

const (
	// crossOrigin refuses a change that a page of another origin asks for.
	crossOrigin = "this request comes from a page of another origin, which may not change anything here"
	// onlyLocal refuses another machine, or a page under another name, while reading takes no token.
	onlyLocal   = "this relay has no access tokens and answers only at a loopback address or localhost"
	adminsAlone = "Only administrators may do this: sign in with an access token made by touchstone-relay token create --role admin."
)

// form passes a form of the page to next, if this relay's page sent it: the session's cookie is
// SameSite=Strict, and the origin that the browser reports has to match too
// (https://pkg.go.dev/net/http#CrossOriginProtection).
func (s *Server) form(next func(w http.ResponseWriter, r *http.Request, grant *token.Grant)) http.HandlerFunc {
	return s.brief(func(w http.ResponseWriter, r *http.Request) {
		if new(http.CrossOriginProtection).Check(r) != nil {
			refuse(w, http.StatusForbidden, crossOrigin)
			return
		}
		grant, ok := s.admit(w, r, http.RedirectHandler("/sign-in", http.StatusSeeOther).ServeHTTP)
		if !ok {
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
		if err := r.ParseForm(); err != nil {
			s.page.Problem(w, r, viewer(grant), http.StatusBadRequest, "The form could not be read. Go back, and try again.")
			return
		}
		next(w, r, grant)
	})
}

// sendAgain sends an event once more to one of the subscribers that connected with the viewer's own token.
func (s *Server) sendAgain(w http.ResponseWriter, r *http.Request, grant *token.Grant) {
	e, ok := s.eventOf(w, r, grant)
	if !ok {
		return
	}
	for _, f := range s.metrics.followers.of(grant.ID) {
		if f.id != r.PostForm.Get("to") {
			continue
		}
		select {
		case f.again <- e.ID.Seq:
			zerolog.Ctx(r.Context()).Info().Str("token", grant.ID).Stringer("event", e.ID).Str("to", f.remote).Msg("event sent again")
			http.Redirect(w, r, "/log/"+e.ID.String()+"?done=sent", http.StatusSeeOther)
		default:
			s.page.Problem(w, r, viewer(grant), http.StatusTooManyRequests,
				"That subscriber has not yet received the last event that was sent again. Wait a little, then try again.")
		}
		return
	}
	s.page.Problem(w, r, viewer(grant), http.StatusNotFound, "That subscriber is no longer connected, or uses another access token.")
}

// redeliver asks GitHub to send an event's delivery once more.
func (s *Server) redeliver(w http.ResponseWriter, r *http.Request, grant *token.Grant) {
	who := viewer(grant)
	if !who.Admin {
		s.page.Problem(w, r, who, http.StatusForbidden, adminsAlone)
		return
	}
	e, ok := s.eventOf(w, r, grant)
	if !ok {
		return
	}
	if s.recovery == nil {
		s.page.Problem(w, r, who, http.StatusConflict, "This relay recovers no deliveries: start it with --recover, such as --recover acme/app.")
		return
	}
	log := zerolog.Ctx(r.Context())
	if err := s.recovery.Again(r.Context(), e.Source, e.Delivery); err != nil {
		log.Warn().Err(err).Stringer("event", e.ID).Msg("cannot ask GitHub to redeliver")
		status := http.StatusBadGateway
		if errors.Is(err, recovery.ErrNotListed) {
			status = http.StatusNotFound
		}
		s.page.Problem(w, r, who, status, "GitHub did not send it again: "+err.Error()+".")
		return
	}
	log.Info().Str("token", grant.ID).Str("name", grant.Name).Stringer("event", e.ID).Msg("GitHub was asked to redeliver")
	http.Redirect(w, r, "/log/"+e.ID.String()+"?done=asked", http.StatusSeeOther)
}

// eventOf returns the event that a path names, without its payload, if it is a webhook's and within the grant's scope.
// Otherwise it answers the request itself.
func (s *Server) eventOf(w http.ResponseWriter, r *http.Request, grant *token.Grant) (e event.Event, ok bool) {
	err := dashboard.ErrNoEvent
	if cursor, wrong := event.ParseCursor(r.PathValue("cursor")); wrong == nil {
		var release func()
		if e, release, err = (inside{s}).Event(w, r, viewer(grant), cursor); err == nil {
			defer release()
		}
	}
	status, problem := http.StatusNotFound, "Event not found: retention may have removed it."
	switch {
	case err == nil && !e.IsSettings():
		e.Payload = nil
		return e, true
	case errors.Is(err, dashboard.ErrNoRoom):
		status, problem = http.StatusTooManyRequests, "The relay is busy showing large events. Nothing was done; try again."
	case err != nil && !errors.Is(err, dashboard.ErrNoEvent):
		s.faults.Answering(r.Context(), err, "cannot read an event")
		status, problem = http.StatusServiceUnavailable, "The relay cannot read the event; see the relay's log. Nothing was done; try again."
	}
	s.page.Problem(w, r, viewer(grant), status, problem)
	return event.Event{}, false
}

// changeSettings sets or unsets one of the settings for all agents.
func (s *Server) changeSettings(w http.ResponseWriter, r *http.Request, grant *token.Grant) {
	who := viewer(grant)
	if !who.Admin {
		s.page.Problem(w, r, who, http.StatusForbidden, adminsAlone)
		return
	}
	value := r.PostForm.Get("value")
	patch := map[string]*string{r.PostForm.Get("key"): &value}
	if r.PostForm.Get("act") == "unset" {
		patch[r.PostForm.Get("key")] = nil
	}
	_, err := s.setSettings(r.Context(), grant, patch)
	switch wrong := (unsettable{}); {
	case errors.As(err, &wrong):
		s.page.Problem(w, r, who, http.StatusBadRequest, wrong.Error())
	case errors.Is(err, hub.ErrOverloaded):
		s.page.Problem(w, r, who, http.StatusTooManyRequests, "The relay is busy storing events. Nothing was changed; try again.")
	case err != nil:
		s.page.Problem(w, r, who, http.StatusServiceUnavailable, "The settings could not be stored; see the relay's log.")
	default:
		http.Redirect(w, r, "/health?done=set", http.StatusSeeOther)
	}
}

// Followers implements dashboard.Relay.
func (s inside) Followers(viewer dashboard.Viewer) (list []dashboard.Follower) {
	for _, f := range s.metrics.followers.of(viewer.Token) {
		list = append(list, dashboard.Follower{ID: f.id, Remote: f.remote, Agent: projection.Plain(f.agent, 60), Since: f.since})
	}
	return list
}

// Redelivers implements dashboard.Relay.
func (s inside) Redelivers() bool { return s.recovery != nil }
