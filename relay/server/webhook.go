package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/hub"
	"touchstone/relay/source"
)

const (
	// bodyTimeout is how long a sender may take for its body, and storeTimeout how long
	// the event may wait for the store: GitHub gives up after 10 s altogether
	// (https://docs.github.com/en/webhooks/using-webhooks/handling-webhook-deliveries).
	bodyTimeout  = 30 * time.Second
	storeTimeout = 8 * time.Second
	// retryAfter is the advice to senders that were refused for now, in seconds.
	retryAfter = "5"
)

// accepted answers a webhook that is stored.
type accepted struct {
	ID        string `json:"id"`
	Duplicate bool   `json:"duplicate,omitempty"`
}

// takeWebhook verifies, then stores, then answers.
func (s *Server) takeWebhook(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("source")
	from, ok := s.config.Sources[name]
	if !ok {
		refuse(w, http.StatusNotFound, "this relay has no source of that name")
		return
	}
	if r.ContentLength > MaxBodyBytes {
		refuseLarge(w)
		return
	}
	reserved := r.ContentLength
	if reserved < 0 {
		reserved = MaxBodyBytes // it does not say how much will come
	}
	if !s.bodies.TryAcquire(reserved) {
		refuseForNow(w, http.StatusTooManyRequests, "too many webhooks at once")
		return
	}
	defer s.bodies.Release(reserved)

	body, err := readBody(w, r)
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		refuseLarge(w)
		return
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "the body could not be read to its end")
		return
	}
	log := zerolog.Ctx(r.Context()).With().Str("source", name).Str("remote", r.RemoteAddr).Logger()
	e, err := from.Accept(name, r.Header, body, time.Now())
	if err != nil {
		if errors.Is(err, source.ErrUnauthorized) {
			s.refuseStranger(w, r, err.Error())
			return
		}
		log.Warn().Err(err).Msg("webhook refused")
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	log = log.With().Str("delivery", e.Delivery).Str("type", e.Type).Str("repo", e.Repo).Logger()

	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	begun := time.Now()
	id, duplicate, err := s.hub.Append(ctx, e)
	s.metrics.appends.Observe(time.Since(begun).Seconds())
	switch {
	case errors.Is(err, hub.ErrOverloaded):
		log.Warn().Err(err).Msg("webhook refused")
		refuseForNow(w, http.StatusTooManyRequests, err.Error())
	case err != nil:
		log.Error().Err(err).Msg("webhook not stored")
		refuseForNow(w, http.StatusServiceUnavailable, "the event could not be stored")
	case duplicate:
		log.Info().Stringer("id", id).Msg("webhook known already")
		reply(w, http.StatusOK, accepted{ID: id.String(), Duplicate: true})
	default:
		log.Info().Stringer("id", id).Str("action", e.Action).Int("number", e.Number).Msg("webhook stored")
		reply(w, http.StatusAccepted, accepted{ID: id.String()})
	}
}

// readBody reads the whole body within the limits of size and time.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	deadline := http.NewResponseController(w)
	if err := deadline.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
		return nil, fmt.Errorf("limit the time to read: %w", err)
	}
	reader := http.MaxBytesReader(w, r.Body, MaxBodyBytes)
	if r.ContentLength < 0 {
		return io.ReadAll(reader)
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(reader, body)
	return body, err
}

// reply answers with JSON. That the peer is gone by now is nothing to act on.
func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// refuse answers with a sentence that says what is wrong.
func refuse(w http.ResponseWriter, status int, sentence string) {
	reply(w, status, map[string]string{"error": sentence})
}

func refuseForNow(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Retry-After", retryAfter)
	refuse(w, status, sentence+"; nothing was stored, send it again")
}

func refuseLarge(w http.ResponseWriter) {
	refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d MiB", MaxBodyBytes>>20))
}
