// Package engines knows every engine by its name in the configuration. A new engine is a package of its own
// and a line here.
package engines

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/acp"
	"touchstone/agent/engine/claude"
	"touchstone/agent/engine/codex"
	"touchstone/agent/engine/opencode"
	"touchstone/agent/engine/session"
)

// keyed is an engine that knows in which environment variables its provider's key may be.
type keyed interface {
	engine.Engine
	Keys() []string
}

var kinds = map[string]func(session.Program) keyed{
	"acp":      func(p session.Program) keyed { e := acp.Engine(p); return &e },
	"claude":   func(p session.Program) keyed { e := claude.Engine(p); return &e },
	"codex":    func(p session.Program) keyed { e := codex.Engine(p); return &e },
	"opencode": func(p session.Program) keyed { e := opencode.Engine(p); return &e },
}

// Names are the names of all engines, in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(kinds)) }

// Logins are the environment variables in which the configured engines look for their providers' keys.
func Logins(e config.Engine) []string {
	var names []string
	for _, name := range e.Engines() {
		if kind, known := kinds[name]; known {
			names = append(names, kind(session.Program{Command: e.ACP.Command, Variables: e.ACP.Variables}).Keys()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// New returns the engine of a name, with its CLI as it is on this machine.
func New(name string, program session.Program) (engine.Engine, error) {
	kind, known := kinds[name]
	if !known {
		return nil, fmt.Errorf("there is no engine named %q; engine.name must be one of %s", name, strings.Join(Names(), ", "))
	}
	return kind(program), nil
}

// CheckEffort says why an engine cannot pass on the configured effort. It then sends requests without an
// effort.
func CheckEffort(name, level string) error {
	e, err := New(name, session.Program{})
	if err != nil {
		return err
	}
	levels := []string{}
	if thinker, ok := e.(engine.Thinker); ok {
		levels = thinker.Efforts()
	}
	if level == "" || slices.Contains(levels, level) {
		return nil
	}
	return fmt.Errorf("%s does not support the effort %s, so none is set; it supports %s", name, level,
		cmp.Or(strings.Join(levels, ", "), "none"))
}

// Check says why an engine cannot use a model: there is no such engine, or its models have other names. An
// empty model is the engine's own choice.
func Check(name, model string) error {
	e, err := New(name, session.Program{})
	if err != nil {
		return err
	}
	if particular, ok := e.(interface{ Takes(model string) error }); ok {
		return particular.Takes(model)
	}
	return nil
}
