package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"touchstone/worktree/lazyregexp"
)

// Engine says which model CLIs do the thinking, and with which models.
//
// A model is named as its engine names it. That of another engine than Name is named with
// it, as in codex:gpt-5; with nothing behind the colon it is that engine's own choice. See
// Choice.
type Engine struct {
	// Name is the kind of CLI; claude by default.
	Name string `yaml:"name"`
	// Command is the program and its leading arguments; empty, which is the default, is the
	// CLI of that name on PATH. Other engines are always looked for on PATH.
	Command []string `yaml:"command"`
	// ACP is the agent that the engine acp drives, whichever engine Name is.
	ACP ACP `yaml:"acp"`
	// Model does what Models name no model for; empty, the default, leaves the choice to
	// the CLI.
	Model  string `yaml:"model"`
	Models Models `yaml:"models"`
	// Effort is how much the models think, by the same tasks.
	Effort Effort `yaml:"effort"`
	// Fallback are the models to go on with, in this order, where the one before does not
	// answer for reasons that lie with its provider. Without any, the default, an engine
	// goes on with another model of the same family that is fit to approve, if it knows one.
	Fallback []string `yaml:"fallback"`
	// Off are models that are not to be asked, even if other settings name them or the CLI
	// would choose them: a whole name, the provider's or the settings', a part of one that
	// stands between dashes or slashes, such as opus, or all of an engine, such as codex:. None
	// by default.
	Off []string `yaml:"off"`
	// Gateway is On, the default, to keep an API key out of the CLI, by a proxy on this
	// machine that meters and bounds what is spent; or Off.
	Gateway string `yaml:"gateway"`
	// Sandbox is Auto, the default, to confine sessions and the commands that verify a fix
	// as far as this platform offers it; Required to run none of them where it offers
	// nothing; or Off. A reviewer's writes in its home alone.
	Sandbox string `yaml:"sandbox"`
	// MaxMemoryGB and MaxProcesses bound what a session or a verify command, with all that it
	// starts, may have at once on Linux: memory in GB, and processes and threads. Zero, the
	// default, is three quarters of the machine's memory, and 5000.
	MaxMemoryGB  float64 `yaml:"max_memory_gb"`
	MaxProcesses int     `yaml:"max_processes"`
	// Timeout bounds a session; 25m by default, a minute at least.
	Timeout Duration `yaml:"timeout"`
	// IdleTimeout bounds the time in which neither the CLI nor its provider says anything;
	// 60s by default, 10s at least.
	IdleTimeout Duration `yaml:"idle_timeout"`
	// ToolTimeout bounds it instead while a command of an author's session runs, where it is the
	// longer one; claude lets none run for longer. 10m by default, 10s at least.
	ToolTimeout Duration `yaml:"tool_timeout"`
	// MaxTurns bounds the steps of a session, one of which is one answer of the model's;
	// 300 by default, 0 is no bound. It is there to end a session that turns in circles.
	MaxTurns int `yaml:"max_turns"`
	// Allow lists the shell commands that an author's session may run, as patterns in
	// which * stands for anything. By default what builds and tests in common
	// languages. claude's session may also run rm in its worktree, and codex's holds itself to
	// its own sandbox instead.
	Allow []string `yaml:"allow"`

	// Own is what the file says where an Overlay lies over it; nil where none does.
	Own *Engine `yaml:"-"`
}

// ACP says which agent that speaks the Agent Client Protocol is driven, and what it gets of this
// process's environment besides the common variables.
type ACP struct {
	// Command is the program and its arguments; empty, which is the default, is gemini --acp.
	Command []string `yaml:"command"`
	// Variables are the names of those that the agent needs, such as that of its login; none by
	// default. What the agent runs can read them too. Of gemini's nothing need be named.
	Variables []string `yaml:"variables"`
}

// ours are variables that hold what no agent may have.
var ours = lazyregexp.New(`^(GITHUB_TOKEN|GH_TOKEN|RELAY_.*|TOUCHSTONE_.*)$`)

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (a ACP) validate() error {
	var errs []error
	if len(a.Command) > 0 && a.Command[0] == "" {
		errs = append(errs, errors.New("engine.acp.command begins with nothing; name the agent's program and arguments, such as [gemini, --acp]"))
	}
	for _, name := range a.Variables {
		switch {
		case !variableName.MatchString(name):
			errs = append(errs, fmt.Errorf("engine.acp.variables has %.40q, which is no variable's name; write names alone, such as "+
				"GOOSE_PROVIDER", name))
		case ours.MatchString(name):
			errs = append(errs, fmt.Errorf("engine.acp.variables has %s, with which the agent could act in this program's name; give it a login of "+
				"its own under another name", name))
		}
	}
	return errors.Join(errs...)
}

// Models name the models by what they are to do. An empty one, the default, is Engine.Model.
type Models struct {
	// Trivial reviews at most 10 lines in at most 20 files, of which none touches anything that
	// raises the tier; see "What a session is shown" in the README of agent.
	Trivial string `yaml:"trivial"`
	// Lite reviews at most 100 lines in at most 20 files, nothing grave among them.
	Lite string `yaml:"lite"`
	// Full reviews all else.
	Full string `yaml:"full"`
	// Fix applies reviews.
	Fix string `yaml:"fix"`
	// Conflict fixes where merging the base left conflicts.
	Conflict string `yaml:"conflict"`
	// Check looks a second time at findings that block.
	Check string `yaml:"check"`
}

// Effort is how much a model is to think at each task, one of Efforts. An empty one, the
// default, leaves it to the CLI.
type Effort Models

// Efforts are the levels of thinking, the least first. Not every engine knows all of them.
func Efforts() []string { return []string{"minimal", "low", "medium", "high", "xhigh", "max"} }

// Task is what a model is to do, as Models name it.
type Task string

// The tasks, and with them the settings in Models.
const (
	ReviewTrivial Task = "trivial"
	ReviewLite    Task = "lite"
	ReviewFull    Task = "full"
	Fix           Task = "fix"
	Conflict      Task = "conflict"
	Check         Task = "check"
)

// Tasks are all of them.
func Tasks() []Task { return []Task{ReviewTrivial, ReviewLite, ReviewFull, Fix, Conflict, Check} }

// of is what is named for a task; empty for one that is not known.
func (m Models) of(task Task) string {
	return map[Task]string{
		ReviewTrivial: m.Trivial, ReviewLite: m.Lite, ReviewFull: m.Full, Fix: m.Fix, Conflict: m.Conflict, Check: m.Check,
	}[task]
}

// ModelFor is the model that is to do a task. Of a task that is not known it is Model.
func (e Engine) ModelFor(task Task) string { return cmp.Or(e.Models.of(task), e.Model) }

// EffortFor is how much a model is to think at a task; empty leaves it to the CLI.
func (e Engine) EffortFor(task Task) string { return Models(e.Effort).of(task) }

// Engines are the names of all engines that the settings choose from, Name first.
func (e Engine) Engines() []string {
	names := []string{e.Name}
	models := []string{e.Model}
	for _, task := range Tasks() {
		models = append(models, e.Models.of(task))
	}
	for _, model := range append(models, e.Fallback...) {
		if name, _ := Choice(model); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// another is a model that is named with its engine. Models' own names may hold colons too,
// but not behind a plain word: openrouter/x:free, anthropic.claude-v2:0.
var another = lazyregexp.New(`^([a-z][a-z0-9]*):(.*)$`)

// Choice takes the name of a model apart; engine is empty where none is named.
func Choice(name string) (engine, model string) {
	if parts := another.FindStringSubmatch(name); parts != nil {
		return parts[1], parts[2]
	}
	return "", name
}

// The least of a session's bounds: a CLI takes seconds to start, and a model minutes to think.
const (
	leastTimeout = Duration(time.Minute)
	leastIdle    = Duration(10 * time.Second)
)

// MaxMemory is MaxMemoryGB in bytes; zero leaves it to the machine.
func (e Engine) MaxMemory() int64 { return int64(e.MaxMemoryGB * 1e9) }

// The bounds of a session's bounds of memory and processes: a CLI alone takes 600 MB and dozens of threads.
const (
	leastMemoryGB  = 1.0
	mostMemoryGB   = 1e6
	leastProcesses = 200
)

func atLeast(key string, d, least Duration) error {
	if d < least {
		return fmt.Errorf("%s is %s, in which no session could come to anything; it has to be %s at least", key, d, least)
	}
	return nil
}

// validModel reports whether it can be the name of a model. No name begins with a dash, which
// a CLI would take for an option, or is longer than any is.
func validModel(name string) bool {
	_, model := Choice(name)
	return len(name) <= 200 && !strings.HasPrefix(model, "-") && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Validate reports, in sentences that say what to do, every setting of an engine that cannot
// work. Whether there is such an engine or model is not asked here.
func (e Engine) Validate() error {
	var errs []error
	named := map[string][]string{"model": {e.Model}, "fallback": e.Fallback, "off": e.Off}
	for _, task := range Tasks() {
		named["models."+string(task)] = []string{e.Models.of(task)}
		if level := e.EffortFor(task); level != "" {
			errs = append(errs, oneOf("engine.effort."+string(task), level, Efforts()...))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		list := strings.Contains("fallback off", key)
		for _, name := range named[key] {
			if !validModel(name) || list && name == "" {
				errs = append(errs, fmt.Errorf("engine.%s has %.40q, which is no model; write one as its engine names it, such as sonnet, "+
					"or with the engine, such as codex:gpt-5", key, name))
			}
		}
	}
	if e.MaxTurns < 0 {
		errs = append(errs, fmt.Errorf("engine.max_turns is %d; it has to be a number of steps such as 300, or 0 for no bound", e.MaxTurns))
	}
	if e.MaxMemoryGB != 0 && !(e.MaxMemoryGB >= leastMemoryGB && e.MaxMemoryGB <= mostMemoryGB) {
		errs = append(errs, fmt.Errorf("engine.max_memory_gb is %g; it has to be from %g to %g, or 0 for three quarters of this machine's memory",
			e.MaxMemoryGB, leastMemoryGB, mostMemoryGB))
	}
	if e.MaxProcesses != 0 && e.MaxProcesses < leastProcesses {
		errs = append(errs, fmt.Errorf("engine.max_processes is %d, in which no session could come to anything; it has to be %d at least, or "+
			"0 for 5000",
			e.MaxProcesses, leastProcesses))
	}
	if len(e.Command) > 0 && e.Command[0] == "" {
		errs = append(errs, errors.New("engine.command begins with nothing; name the model CLI's program, such as [claude], or leave it out"))
	}
	if len(e.Command) > 0 && e.Name == "acp" {
		errs = append(errs, errors.New("engine.command is not for the engine acp; set engine.acp.command"))
	}
	return errors.Join(append(errs,
		e.ACP.validate(),
		oneOf("engine.gateway", e.Gateway, On, Off),
		oneOf("engine.sandbox", e.Sandbox, Auto, Required, Off),
		atLeast("engine.timeout", e.Timeout, leastTimeout),
		atLeast("engine.idle_timeout", e.IdleTimeout, leastIdle),
		atLeast("engine.tool_timeout", e.ToolTimeout, leastIdle),
	)...)
}

// CheckSandbox says why these settings let nothing run where nothing confines, for the reason
// given, which is nil where something does.
func (e Engine) CheckSandbox(none error) error {
	if e.Sandbox != Required || none == nil {
		return nil
	}
	return fmt.Errorf("engine.sandbox is required, and nothing confines a session here: %w; run the agent on Linux 6.2 or newer "+
		"or on macOS, or set engine.sandbox to auto", none)
}

// Prices are what tokens cost, for engines that do not know.
type Prices struct {
	// Date is the day on which the prices were looked up, as in 2026-01-31. None by
	// default; needed where there are prices.
	Date string `yaml:"date"`
	// Models are the prices by the model's name, or by the beginning of it: the longest
	// that fits counts. None by default.
	Models map[string]Price `yaml:"models"`
}

// Price is what a million tokens of a model cost, in US dollars. Input and output have to be
// named, since what is left out would cost nothing by the books, and no budget would hold.
// What is left out of the others costs as much as input.
type Price struct {
	Input      *float64 `yaml:"input"`
	CacheWrite *float64 `yaml:"cache_write"`
	CacheRead  *float64 `yaml:"cache_read"`
	Output     *float64 `yaml:"output"`
}

// valid reports whether it can be a price.
func (p Price) valid() bool {
	if p.Input == nil || p.Output == nil {
		return false
	}
	return !slices.ContainsFunc([]*float64{p.Input, p.CacheWrite, p.CacheRead, p.Output}, func(dollars *float64) bool {
		return dollars != nil && !amount(*dollars)
	})
}

func (p Prices) validate() error {
	var errs []error
	if _, err := time.Parse(time.DateOnly, p.Date); err != nil && (p.Date != "" || len(p.Models) > 0) {
		errs = append(errs, fmt.Errorf("prices.date is %.40q; it has to be the day on which the prices were looked up, such as 2026-01-31",
			p.Date))
	}
	for _, model := range slices.Sorted(maps.Keys(p.Models)) {
		if model == "" || !p.Models[model].valid() {
			errs = append(errs, fmt.Errorf("prices.models has %.40q with a price that cannot be; write what a million tokens cost "+
				"in US dollars, input and output at least, such as gpt-5: {input: 1.25, cache_read: 0.125, output: 10}", model))
		}
	}
	return errors.Join(errs...)
}
