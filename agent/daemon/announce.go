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
)

const (
	// announceEvery is how often an agent says what it does where nothing changes: three times
	// within what the relay remembers.
	announceEvery = 30 * time.Second
	// announceAfter is the shortest time between two changes that are told.
	announceAfter = time.Second
	// announcePatience is how long the relay may take to listen.
	announcePatience = 5 * time.Second
)

// announce tells what the agent does, now and at each change: those who ask on this machine
// through the journal, the others through the relay. That the relay is away, or too old to listen,
// is no error: following it tells of that.
func (d *Daemon) announce(ctx context.Context) {
	for {
		b := d.beacon()
		if err := d.Agent.Journal.SetActivity(b); err != nil {
			zerolog.Ctx(ctx).Debug().Err(err).Msg("touchstone status will not tell what the agent is doing")
		}
		if d.Announce != nil {
			telling, cancel := context.WithTimeoutCause(ctx, announcePatience, errors.New("it took too long"))
			if err := d.Announce(telling, b); err != nil && ctx.Err() == nil {
				zerolog.Ctx(ctx).Debug().Err(err).Msg("the relay's page does not show what this agent is doing")
			}
			cancel()
		}
		if !sleep(ctx, announceAfter, nil) || !sleep(ctx, announceEvery-announceAfter, d.Activity.Changed()) {
			return
		}
	}
}

// beacon is what the agent does now, as much of it as a relay takes.
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
		// What rests is left out first, then the newest work.
		switch {
		case len(b.Resting) > 0:
			b.Resting = b.Resting[:len(b.Resting)-1]
		case len(b.Work) > 0:
			b.Work = b.Work[:len(b.Work)-1]
		default:
			return b // of a login that no relay takes
		}
	}
}
