package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
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

// Of gives the choices that hold now, by the word of the relay that is configured. It has
// none where there is no relay, where control is false, and, which the log says, where the
// relay does not tell within two seconds.
func Of(ctx context.Context, cfg config.Config) *Overlay {
	o := &Overlay{}
	if cfg.Relay.URL == "" || !cfg.Control {
		return o
	}
	c, err := ask(ctx, cfg.Relay)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("the relay does not tell which models its administrators have chosen for all agents; those of agent.yaml are asked")
		return o
	}
	if !c.ID.IsZero() {
		o.Take(ctx, c)
	}
	return o
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
	if response.StatusCode != http.StatusOK {
		return event.Control{}, fmt.Errorf("the relay answers %s to GET /control", response.Status)
	}
	var c event.Control
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswerBytes)).Decode(&c); err != nil {
		return c, fmt.Errorf("the relay's answer to GET /control cannot be read: %w", err)
	}
	return c, nil
}
