package daemon

import (
	"cmp"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/engines"
	"touchstone/agent/engine/failback"
	"touchstone/agent/engine/session"
)

// Models composes what holds sessions with the models that the settings choose from, and
// goes on with another where one does not answer. Scratch is where the sessions' homes are
// made; empty is the system's choice.
func Models(live *config.Live, scratch string) *failback.Engine {
	return &failback.Engine{
		Settings: func() config.Engine { return live.Config().Engine },
		New: func(name string) (engine.Engine, error) {
			file := live.File()
			program := session.Program{
				TempDir: scratch, Prices: engine.Prices{},
				Direct: file.Engine.Gateway == config.Off, Confine: file.Engine.Sandbox == config.Auto,
				Private: file.Private(),
			}
			// The command is of the engine that the file names, whatever else is chosen.
			if name == file.Engine.Name {
				program.Command = file.Engine.Command
			}
			for model, price := range file.Prices.Models {
				program.Prices[model] = priced(price)
			}
			return engines.New(name, program)
		},
	}
}

// priced is a price of the settings, which have passed Validate.
func priced(p config.Price) engine.Price {
	return engine.Price{
		Input: *p.Input, CacheWrite: *cmp.Or(p.CacheWrite, p.Input), CacheRead: *cmp.Or(p.CacheRead, p.Input), Output: *p.Output,
	}
}

// CheckModels says which engine the settings name that there is none of.
func CheckModels(e config.Engine) error {
	names := e.Engines()
	for _, off := range e.Off {
		if name, _ := config.Choice(off); name != "" {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if _, err := engines.New(name, session.Program{}); err != nil {
			return err
		}
	}
	return nil
}
