// Package control owns what a relay's administrators choose for all agents: which models do
// the work, which ones step in, and which are not asked. It lays that over the settings of
// this machine, for as long as the agent runs. It stores nothing: a relay tells whoever
// connects what holds.
//
// A relay can choose among models and engines and do nothing else. Agents hold the keys to
// repositories and to models, and run on people's own machines; the relay is one program on
// a server that takes webhooks from the internet. So whoever gets hold of it must not come to
// run a command here, to send anything to another address, to lift a protection, or to decide
// what is approved or merged. This package does not leave that to the relay: it takes the
// settings it knows and leaves out all others. With `control: false` it takes none.
package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/engine/engines"
	"touchstone/relay/event"
)

// Overlay holds the choices. The zero Overlay has none. Its methods may be called from
// several goroutines at once.
type Overlay struct {
	mu       sync.Mutex
	id       event.Cursor
	settings map[string]string
}

// Take replaces the choices by those of a control. What cannot be used of it is left out,
// and the log says so.
func (o *Overlay) Take(ctx context.Context, c event.Control) {
	usable, problems := map[string]string{}, []string(nil)
	for _, key := range slices.Sorted(maps.Keys(c.Settings)) {
		if err := check(key, c.Settings[key]); err != nil {
			problems = append(problems, err.Error())
		} else {
			usable[key] = c.Settings[key]
		}
	}
	if !o.replace(c.ID, usable) {
		return // a relay says it again with each connection
	}
	log := zerolog.Ctx(ctx).With().Stringer("control", c.ID).Str("by", c.By).Logger()
	if len(problems) > 0 {
		log.Warn().Strs("problems", problems).Msg("the relay has settings for all agents that this one leaves out; correct them with relay control, or update this agent")
	}
	log.Info().Interface("settings", usable).Msg("the relay's settings for all agents are in force")
}

// Drop forgets the choices, which were those of a log that the relay no longer has.
func (o *Overlay) Drop() { o.replace(event.Cursor{}, nil) }

// replace reports whether that is anything new.
func (o *Overlay) replace(id event.Cursor, settings map[string]string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	news := o.id != id
	o.id, o.settings = id, settings
	return news
}

// Apply is what a machine's own settings become under the choices.
func (o *Overlay) Apply(e config.Engine) config.Engine {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range choices {
		if value, ok := o.settings[c.key]; ok {
			c.lay(&e, value)
		}
	}
	return e
}

// choices are the keys of [event.SettingKeys] and what they mean here: but for engine.off, what
// the key of the same name does in agent.yaml. Later ones lie over earlier ones.
var choices = []struct {
	key string
	lay func(e *config.Engine, value string)
}{
	{"engine.model", func(e *config.Engine, value string) { e.Model = value }},
	{"engine.review.model", func(e *config.Engine, value string) {
		e.Models.Trivial, e.Models.Lite, e.Models.Full = value, value, value
	}},
	{"engine.models.trivial", func(e *config.Engine, value string) { e.Models.Trivial = value }},
	{"engine.models.lite", func(e *config.Engine, value string) { e.Models.Lite = value }},
	{"engine.models.full", func(e *config.Engine, value string) { e.Models.Full = value }},
	{"engine.models.fix", func(e *config.Engine, value string) { e.Models.Fix = value }},
	{"engine.models.conflict", func(e *config.Engine, value string) { e.Models.Conflict = value }},
	{"engine.failback", func(e *config.Engine, value string) { e.Failback = list(value) }},
	// What this machine's owner has switched off stays off.
	{"engine.off", func(e *config.Engine, value string) { e.Off = slices.Concat(e.Off, list(value)) }},
}

// list reads a list; an empty text is an empty one.
func list(value string) []string {
	if value == "" {
		return []string{}
	}
	return strings.Split(value, ",")
}

// check reports why a setting is of no use here, in a sentence. What the relay lets through
// is its own affair; this is ours.
func check(key, value string) error {
	if err := event.ValidateSetting(key, value); err != nil {
		return err
	}
	var errs []error
	for _, name := range list(value) {
		if engine, _ := config.Choice(name); engine != "" && !slices.Contains(engines.Names(), engine) {
			errs = append(errs, fmt.Errorf("%s names the engine %q; there are %s", key, engine, strings.Join(engines.Names(), ", ")))
		}
	}
	return errors.Join(errs...)
}
