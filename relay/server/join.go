package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/token"
)

// maxJoinBytes is far above any code.
const maxJoinBytes = 4 << 10

// join exchanges an invitation's code for a token, once.
func (s *Server) join(w http.ResponseWriter, r *http.Request) {
	s.invitation(w, r, s.config.Tokens.Redeem)
}

// lookJoin answers what an invitation is for, without redeeming it.
func (s *Server) lookJoin(w http.ResponseWriter, r *http.Request) {
	s.invitation(w, r, func(ctx context.Context, code string) (token.Token, string, error) {
		invited, err := s.config.Tokens.Invited(ctx, code)
		return invited, "", err
	})
}

// invitation answers what an invitation is for, with the token that take returns for its code.
func (s *Server) invitation(w http.ResponseWriter, r *http.Request, take func(context.Context, string) (token.Token, string, error)) {
	var asked struct {
		Code string `json:"code"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxJoinBytes)).Decode(&asked); err != nil || asked.Code == "" {
		refuse(w, http.StatusBadRequest, `the body is not an invitation's code; send {"code":"inv_…"}`)
		return
	}
	invited, text, err := take(r.Context(), asked.Code)
	log := zerolog.Ctx(r.Context()).With().Str("remote", r.RemoteAddr).Str("token", invited.ID).Str("name", invited.Name).Logger()
	switch {
	case errors.Is(err, token.ErrNoInvite):
		s.refuseStranger(w, r, err.Error())
	case errors.Is(err, token.ErrInviteUsed), errors.Is(err, token.ErrInviteExpired):
		refuse(w, http.StatusGone, err.Error())
	case err != nil && text == "":
		s.faults.Write(log.WithContext(r.Context()), zerolog.ErrorLevel, err, "cannot redeem an invitation")
		w.Header().Set("Retry-After", retryAfter)
		refuse(w, http.StatusServiceUnavailable, "the relay could not redeem the invitation, which stays valid; see the relay's log")
	default:
		if text != "" {
			log.Info().AnErr("later", err).Str("mode", string(invited.Invite.Mode)).Msg("invitation redeemed")
		}
		w.Header().Set("Cache-Control", "no-store")
		reply(w, http.StatusOK, event.Membership{
			Relay: s.address(r), Token: text, Role: invited.Invite.Mode,
			Repositories: append([]string{}, invited.Repos...), Reviewers: append([]string{}, invited.Invite.Reviewers...),
		})
	}
}

// explainJoin answers a person who opens an invitation's link in a browser. The code stands after # and stays
// in the browser.
func (s *Server) explainJoin(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, `This link lets your machine join touchstone, once. In a terminal:

  touchstone join 'THE WHOLE ADDRESS OF THIS PAGE'
`)
}

// address returns the address under which the relay is reached: the configured one, or the one in the
// request.
func (s *Server) address(r *http.Request) string {
	if s.config.PublicURL != "" {
		return s.config.PublicURL
	}
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
