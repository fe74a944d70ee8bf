package remoteconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/relay/event"
)

const (
	// patience is how long a relay may take to say what its administrators have chosen.
	patience = 2 * time.Second
	// maxAnswerBytes is far above what all settings together can take.
	maxAnswerBytes = 64 << 10
)

// Of gives the choices that hold now, by the word of the relay that is configured. Where that
// does not tell within two seconds, which the log says, they are those that it told this
// machine last. It has none where there is no relay, and where control is false.
func Of(ctx context.Context, cfg config.Config) *Overlay {
	o, err := Ask(ctx, cfg)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("the relay does not tell which models its administrators have chosen for all agents; what it told last holds, and else agent.yaml")
	}
	return o
}

// Ask is Of; the error is why the relay does not tell, and what to do.
func Ask(ctx context.Context, cfg config.Config) (*Overlay, error) {
	o := &Overlay{own: cfg.Engine.Name}
	if cfg.Relay.URL == "" || !cfg.Control {
		return o, nil
	}
	if cfg.StateDir != "" {
		o.memory = memory{path: filepath.Join(cfg.StateDir, "control.json"), relay: cfg.Relay.URL}
	}
	last, known := o.memory.recall()
	c, err := ask(ctx, cfg.Relay)
	switch {
	case err == nil && c.ID.IsZero():
		o.memory.forget()
	case err == nil:
		o.Take(ctx, c)
	case known:
		o.Take(ctx, last)
	}
	return o, err
}

// ask asks a relay for its control; see relay/README.md.
func ask(ctx context.Context, relay config.Relay) (event.Control, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it has not answered within %s", patience))
	defer cancel()
	base, err := url.Parse(relay.URL)
	if err != nil {
		return event.Control{}, errors.New("relay.url is no address; write one such as http://127.0.0.1:8080")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("control").String(), nil)
	if err != nil {
		return event.Control{}, err
	}
	if relay.Token != "" {
		request.Header.Set("Authorization", "Bearer "+string(relay.Token))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return event.Control{}, fmt.Errorf("ask the relay: %w", err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return event.Control{}, errors.New("the relay does not take this machine's token; set RELAY_TOKEN to one that `touchstone-relay token create` has printed")
	default:
		return event.Control{}, fmt.Errorf("the relay answers %s to GET /control", response.Status)
	}
	var c event.Control
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswerBytes)).Decode(&c); err != nil {
		return c, fmt.Errorf("the relay's answer to GET /control cannot be read: %w", err)
	}
	return c, nil
}
