// Package remoteconfig owns what a relay's administrators choose for all agents: which models do
// the work, which ones step in, and which are not asked. It lays that over the settings of
// this machine. It stores what the relay said last, in the state directory, so that what is
// switched off stays off while the relay is away.
//
// A relay can choose among models and engines and do nothing else. Agents hold the keys to
// repositories and to models, and run on people's own machines; the relay is one program on
// a server that takes webhooks from the internet. So an attacker who gets hold of it must not be
// able to run a command here, send anything to another address, lift a protection, or decide
// what is approved or merged. This package does not leave that to the relay: it takes the
// settings it knows and leaves out all others. With `control: false` it takes none.
package remoteconfig

import (
	"cmp"
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
	"touchstone/agent/engine/session"
	"touchstone/relay/event"
)

// Overlay holds the choices. The zero Overlay has none, and keeps them for this process alone.
// Its methods may be called from several goroutines at once.
type Overlay struct {
	// memory is where the choices outlast the process.
	memory memory

	mu  sync.Mutex
	own string // the engine that the file names, for the log
	now event.Settings
}

// Take replaces the choices by a relay's settings. What cannot be used of it is left out,
// and the log says so.
func (o *Overlay) Take(ctx context.Context, c event.Settings) {
	c.Values = few(c.Values)
	if !o.replace(c) {
		return // a relay says it again with each connection
	}
	log := zerolog.Ctx(ctx).With().Stringer("remote_config", c.ID).Str("by", c.By).Logger()
	if err := o.memory.keep(c); err != nil {
		log.Warn().Err(err).Msg("cannot save the relay's settings for all agents; they are lost when this agent ends, until the relay sends " +
			"them again")
	}
	said := o.Summary(o.own)
	if len(said.Problems) > 0 {
		log.Warn().Strs("problems", said.Problems).Msg("the relay has settings for all agents that this agent cannot use, so it uses its " +
			"own; correct them with touchstone-relay control, or update this agent")
	}
	log.Info().Interface("settings", said.Settings).Msg("the relay's settings for all agents are in force")
}

// mostSettings is how many settings are taken of a relay. This agent knows about ten; a later relay may have some more.
const mostSettings = 100

// few are the settings that are known here, and of the others no more than a person would read: each is checked whenever
// the choices are applied, and each has a sentence in the log.
func few(values map[string]string) map[string]string {
	if len(values) <= mostSettings {
		return values
	}
	kept := map[string]string{}
	for _, key := range append(event.SettingKeys(), slices.Sorted(maps.Keys(values))...) {
		if value, ok := values[key]; ok && len(kept) < mostSettings {
			kept[key] = value
		}
	}
	return kept
}

// Drop forgets the choices, which were those of a log that the relay no longer has.
func (o *Overlay) Drop() {
	o.replace(event.Settings{})
	o.memory.forget()
}

// replace reports whether that is anything new.
func (o *Overlay) replace(c event.Settings) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	differs := o.now.ID != c.ID
	o.now = c
	return differs
}

// Summary is what a relay's administrators have chosen, as far as it means something to an agent
// whose own engine is named so.
type Summary struct {
	// Settings are in force, Problems say in a sentence each what is left out.
	Settings map[string]string
	Problems []string
	// By is who chose, as event.Settings has it.
	By string
}

// String is what is in force, for a person.
func (s Summary) String() string {
	if len(s.Settings) == 0 {
		return "nothing is set for all agents"
	}
	var set []string
	for _, key := range slices.Sorted(maps.Keys(s.Settings)) {
		set = append(set, key+"="+s.Settings[key])
	}
	return fmt.Sprintf("%s, by %s for all agents", strings.Join(set, " "), cmp.Or(s.By, "someone without an access token, on an older relay"))
}

// Summary gives the choices.
func (o *Overlay) Summary(own string) Summary {
	o.mu.Lock()
	defer o.mu.Unlock()
	said := Summary{Settings: map[string]string{}, By: o.now.By}
	for _, key := range slices.Sorted(maps.Keys(o.now.Values)) {
		value := o.now.Values[key]
		if err := check(own, key, value); err != nil {
			said.Problems = append(said.Problems, err.Error())
		} else {
			said.Settings[key] = value
		}
	}
	return said
}

// Apply is what a machine's own settings become under the choices.
func (o *Overlay) Apply(e config.Engine) config.Engine {
	settings := o.Summary(e.Name).Settings
	for _, c := range choices {
		if value, ok := settings[c.key]; ok {
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
	{"engine.models.check", func(e *config.Engine, value string) { e.Models.Check = value }},
	{"engine.fallback", func(e *config.Engine, value string) { e.Fallback = list(value) }},
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
func check(own, key, value string) error {
	if err := event.ValidateSetting(key, value); err != nil {
		return err
	}
	var errs []error
	for _, name := range list(value) {
		kind, model := config.Choice(name)
		switch {
		case key == "engine.off" && kind == "":
			continue // a part of any engine's model
		case kind == "" && own == "":
			continue // which engine's that is, is not known
		}
		err := engines.Check(cmp.Or(kind, own), model)
		if key == "engine.off" {
			_, err = engines.New(kind, session.Program{}) // its models may have any name
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: %w", key, name, err))
		}
	}
	return errors.Join(errs...)
}
