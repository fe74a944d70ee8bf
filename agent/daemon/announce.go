package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/relay/event"
	"touchstone/verdict/decide"
	"touchstone/worktree/pause"
)

const (
	// announceEvery is how often an agent announces its activity while nothing changes: three times within
	// the period that the relay remembers.
	announceEvery = 30 * time.Second
	// announceAfter is the shortest time between two announced changes.
	announceAfter = time.Second
	// announcePatience is the timeout of one announcement to the relay.
	announcePatience = 5 * time.Second
)

// announce publishes what the agent does, at the start and after each change: on this machine through the
// journal, elsewhere through the relay. It is no error if the relay is down or too old: following the relay
// reports that.
func (d *Daemon) announce(ctx context.Context) {
	for {
		b := d.beacon()
		if err := d.Agent.Journal.SetActivity(b); err != nil {
			zerolog.Ctx(ctx).Debug().Err(err).Msg("cannot record what the agent is doing, so touchstone status does not show it")
		}
		if d.Announce != nil {
			telling, cancel := context.WithTimeoutCause(ctx, announcePatience, errors.New("it did not answer in time"))
			if err := d.Announce(telling, b); err != nil && ctx.Err() == nil {
				zerolog.Ctx(ctx).Debug().Err(err).Msg("cannot tell the relay what this agent is doing, so the relay's page does not show it")
			}
			cancel()
		}
		if !pause.For(ctx, announceAfter) || !sleep(ctx, announceEvery-announceAfter, d.Activity.Changed()) {
			return
		}
	}
}

// beacon describes what the agent does now, within the size that a relay accepts.
func (d *Daemon) beacon() event.Beacon {
	b := d.Self
	engine := d.Agent.Config().Engine
	task := config.ReviewFull
	if b.Role == string(decide.Author) {
		task = config.Fix
	}
	kind, model := config.Choice(engine.ModelFor(task))
	b.Engine, b.Model = cmp.Or(kind, engine.Name), model
	b.Cursor = d.Agent.Journal.Cursor()
	d.Activity.Fill(&b)
	for {
		if text, err := json.Marshal(b); err != nil || len(text) <= event.MaxBeaconBytes {
			return b
		}
		// Resting models are left out first, then the newest work.
		switch {
		case len(b.Resting) > 0:
			b.Resting = b.Resting[:len(b.Resting)-1]
		case len(b.Work) > 0:
			b.Work = b.Work[:len(b.Work)-1]
		default:
			return b // the login is too long for any relay
		}
	}
}
