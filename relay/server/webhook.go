package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/source"
)

const (
	// storeTimeout is how long an event may wait for the store: GitHub gives up after 10 s altogether
	// (https://docs.github.com/en/webhooks/using-webhooks/handling-webhook-deliveries).
	storeTimeout = 8 * time.Second
	// retryAfter is the Retry-After value of temporary refusals, in seconds.
	retryAfter = "5"
)

// accepted is the answer to a webhook that is stored.
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
	control := http.NewResponseController(w)
	// If setting the deadline fails, the connection is gone.
	room := s.bodies.enter(s.sender(r), func() { _ = control.SetReadDeadline(time.Now()) })
	defer room.leave()
	end, err := s.arrivals.begin(w, s.config.BodyTimeout)
	if err != nil {
		s.refuseBody(w, err)
		return
	}
	defer end()
	body, err := readBody(w, r, room)
	if err != nil {
		s.refuseBody(w, err)
		return
	}
	log := zerolog.Ctx(r.Context()).With().Str("source", name).Str("remote", r.RemoteAddr).Logger()
	var e event.Event
	err = s.accept(r.Context(), name, from, func(from Source) (err error) {
		e, err = from.Accept(name, r.Header, body, time.Now())
		return err
	})
	switch {
	case errors.Is(err, source.ErrUnauthorized):
		s.refuseStranger(w, r, err.Error())
	case err != nil:
		log = log.Sample(&s.unreadable)
		log.Warn().Err(err).Msg("webhook refused")
		refuse(w, http.StatusBadRequest, err.Error())
	default:
		log = log.With().Str("delivery", e.Delivery).Str("type", e.Type).Str("repo", e.Repo).Logger()
		s.storeWebhook(log.WithContext(r.Context()), w, e)
	}
}

// storeWebhook stores an event and answers once it is durable.
func (s *Server) storeWebhook(ctx context.Context, w http.ResponseWriter, e event.Event) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	begun := time.Now()
	id, appended, err := s.hub.Append(ctx, e)
	log := *zerolog.Ctx(ctx)
	switch {
	case errors.Is(err, hub.ErrOverloaded):
		s.faults.Write(ctx, zerolog.WarnLevel, err, "webhook refused")
		refuseForNow(w, http.StatusTooManyRequests, err.Error())
	case err != nil:
		s.faults.Write(ctx, zerolog.ErrorLevel, err, "webhook not stored; refusing webhooks until the store can be written again")
		refuseForNow(w, http.StatusServiceUnavailable, "the relay could not store the event")
	case appended.OtherDelivery:
		log = log.Sample(&s.replayed)
		log.Warn().Stringer("id", id).Msg("the same webhook is already stored under another delivery id: someone may have sent it again")
		reply(w, http.StatusOK, accepted{ID: id.String(), Duplicate: true})
	case appended.Duplicate:
		log.Info().Stringer("id", id).Msg("webhook already stored")
		reply(w, http.StatusOK, accepted{ID: id.String(), Duplicate: true})
	default:
		s.metrics.appends.Observe(time.Since(begun).Seconds())
		log.Info().Stringer("id", id).Str("action", e.Action).Int("number", e.Number).Msg("webhook stored")
		reply(w, http.StatusAccepted, accepted{ID: id.String()})
	}
}

// refuseBody answers a request whose body could not be read completely.
func (s *Server) refuseBody(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errNoRoom):
		refuseForNow(w, http.StatusTooManyRequests, err.Error())
	case errors.Is(err, os.ErrDeadlineExceeded) && s.isStopping():
		refuseForNow(w, http.StatusServiceUnavailable, errStopping.Error())
	case errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, http.StatusRequestTimeout, fmt.Sprintf("the body did not arrive within %s", s.config.BodyTimeout))
	case errors.As(err, new(*http.MaxBytesError)):
		refuseLarge(w)
	default:
		refuse(w, http.StatusBadRequest, "the body ended early")
	}
}

// reply answers with JSON. It ignores errors: they mean that the peer is gone.
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
	refuse(w, status, sentence+"; nothing was stored; send it again")
}

func refuseLarge(w http.ResponseWriter) {
	refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d MiB", MaxBodyBytes>>20))
}
