package remoteconfig

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/relay/client"
	"touchstone/relay/event"
)

// patience is how long a relay may take to say what its administrators have chosen.
const patience = 2 * time.Second

// Of gives the choices that hold now, as the configured relay says. If it does not answer
// within two seconds, which is logged, they are those that it told this machine last. It has
// none where there is no relay, and where control is false.
func Of(ctx context.Context, cfg config.Config) *Overlay {
	o, err := Ask(ctx, cfg)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot read from the relay which models its administrators chose for all agents; its last answer " +
			"stays in force, or agent.yaml if there was none")
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

// ask asks a relay for its settings; see relay/README.md.
func ask(ctx context.Context, relay config.Relay) (event.Settings, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it has not answered within %s", patience))
	defer cancel()
	c := event.Settings{}
	err := (&client.Client{URL: relay.URL, Token: string(relay.Token)}).Get(ctx, "control", nil, &c)
	if refused := (*client.StatusError)(nil); errors.As(err, &refused) &&
		(refused.Code == http.StatusUnauthorized || refused.Code == http.StatusForbidden) {
		err = errors.New("the relay rejects this machine's token; run `touchstone join` with a new invitation, or set RELAY_TOKEN to a token " +
			"that `touchstone-relay token create` has printed")
	}
	return c, err
}
