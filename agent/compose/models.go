package compose

import (
	"cmp"
	"fmt"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/engines"
	"touchstone/agent/engine/fallback"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/sandbox"
	"touchstone/agent/engine/session"
	"touchstone/agent/journal"
	"touchstone/verdict/decide"
)

// Models returns an engine that runs sessions with the configured models, and continues with another model if
// one does not answer. tempDir is where the sessions' home directories are created; empty means the system's
// choice.
func Models(live *config.Live, tempDir string) *fallback.Engine {
	return &fallback.Engine{
		Settings: func() config.Engine { return live.Config().Engine },
		New: func(name string) (engine.Engine, error) {
			file := live.File()
			_, none := sandbox.Level()
			if err := file.Engine.CheckSandbox(none); err != nil {
				return nil, err
			}
			environment, err := file.Environment()
			if err != nil {
				return nil, fmt.Errorf("read the keys of models' providers: %w", err)
			}
			program := session.Program{
				Environ: environment, TempDir: tempDir, Prices: engine.Prices{},
				Direct: file.Engine.Gateway == config.Off, Confine: file.Engine.Sandbox != config.Off,
				Private: file.Private(), Closed: file.Author.Network == config.NetworkGateway,
				Bounds: process.Bounds{Memory: file.Engine.MaxMemory(), Processes: file.Engine.MaxProcesses},
			}
			// The command belongs to the engine that the file names, not to one that remote configuration
			// chose.
			if name == file.Engine.Name {
				program.Command = file.Engine.Command
			}
			if name == "acp" {
				program.Command, program.Variables = file.Engine.ACP.Command, file.Engine.ACP.Variables
			}
			for model, price := range file.Prices.Models {
				program.Prices[model] = priced(price)
			}
			return engines.New(name, program)
		},
	}
}

// names returns the names of models that are not used for now.
func names(models []journal.Rest) []string {
	list := make([]string, len(models))
	for i, m := range models {
		list[i] = m.Model
	}
	return list
}

// priced converts a price of the settings, which have passed Validate.
func priced(p config.Price) engine.Price {
	return engine.Price{
		Input: *p.Input, CacheWrite: *cmp.Or(p.CacheWrite, p.Input), CacheRead: *cmp.Or(p.CacheRead, p.Input), Output: *p.Output,
	}
}

// CheckModels returns an error for a configured engine that does not exist, or for a model that a role needs
// and whose name its engine does not accept.
func CheckModels(e config.Engine, role decide.Role) error {
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
	tasks := []config.Task{config.ReviewTrivial, config.ReviewLite, config.ReviewFull}
	if role == decide.Author {
		tasks = []config.Task{config.Fix, config.Conflict}
	}
	for _, task := range tasks {
		kind, model := config.Choice(e.ModelFor(task))
		if err := engines.Check(cmp.Or(kind, e.Name), model); err != nil {
			return fmt.Errorf("%w, as engine.model or engine.models.%s", err, task)
		}
	}
	return nil
}
