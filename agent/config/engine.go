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

// Engine says which model CLIs run the sessions, and with which models.
//
// A model has the name that its engine gives it. A model of another engine than Name has that engine as a
// prefix, as in codex:gpt-5; with nothing after the colon, that engine chooses the model. See Choice.
type Engine struct {
	// Name is the kind of CLI; claude by default.
	Name string `yaml:"name"`
	// Command is the program and its leading arguments; by default empty, which means the CLI of that name on
	// PATH. Other engines are always taken from PATH.
	Command []string `yaml:"command"`
	// ACP is the agent that the engine acp runs, whichever engine Name is.
	ACP ACP `yaml:"acp"`
	// Model is the model for tasks that have none in Models; by default empty, which leaves the choice to the
	// CLI.
	Model  string `yaml:"model"`
	Models Models `yaml:"models"`
	// Effort is how much the models think, by the tasks of Models.
	Effort Effort `yaml:"effort"`
	// Fallback are the models to use next, in this order, if the model before fails for reasons that lie with
	// its provider. Without any, which is the default, an engine falls back to another model of the same
	// family that is fit to approve, if it knows one.
	Fallback []string `yaml:"fallback"`
	// Off are models that must not be used, even if other settings name them or the CLI would choose them: a
	// whole name, the provider's or the settings'; a part of a name between dashes or slashes, such as opus;
	// or all models of an engine, such as codex:. None by default.
	Off []string `yaml:"off"`
	// Gateway is On, the default, which keeps an API key out of the CLI through a proxy on this machine that
	// meters and limits the spending; or Off.
	Gateway string `yaml:"gateway"`
	// Sandbox is Auto, the default, which confines sessions and the commands that verify a fix as far as this
	// platform supports it; Required, which runs none of them on a platform without a sandbox; or Off. A
	// reviewer's sandbox allows writes in its home only.
	Sandbox string `yaml:"sandbox"`
	// MaxMemoryGB and MaxProcesses limit a session or a verify command, with all its child processes, on
	// Linux: memory in GB, and processes and threads. The default, zero, means three quarters of the
	// machine's memory, and 5000.
	MaxMemoryGB  float64 `yaml:"max_memory_gb"`
	MaxProcesses int     `yaml:"max_processes"`
	// Timeout is the maximum time of a session; 25m by default, at least a minute.
	Timeout Duration `yaml:"timeout"`
	// IdleTimeout is the maximum time without output from the CLI or its provider; 60s by default, at least
	// 10s.
	IdleTimeout Duration `yaml:"idle_timeout"`
	// ToolTimeout replaces IdleTimeout while a command of an author's session runs, if it is longer; claude lets no
	// command run for longer. 10m by default, at least 10s.
	ToolTimeout Duration `yaml:"tool_timeout"`
	// MaxTurns is the maximum number of steps in a session, each of which is one answer of the model; 300 by
	// default, 0 for no limit. It ends a session that goes in circles.
	MaxTurns int `yaml:"max_turns"`
	// Allow lists the shell commands that an author's session may run, as patterns in which * stands for
	// anything. The default is the build and test commands of common languages. A session of claude may also
	// run rm in its worktree, and codex uses its own sandbox instead.
	Allow []string `yaml:"allow"`

	// Own is the engine of the file if an Overlay covers it; nil otherwise.
	Own *Engine `yaml:"-"`
}

// ACP says which agent for the Agent Client Protocol is run, and which of this process's environment
// variables it gets besides the common ones.
type ACP struct {
	// Command is the program and its arguments; by default empty, which means gemini --acp.
	Command []string `yaml:"command"`
	// Variables are the names of the environment variables that the agent needs, such as the one of its
	// login; none by default. The agent's commands can read them too. The variables of gemini need not be
	// listed.
	Variables []string `yaml:"variables"`
}

// ours matches variables that no agent may have, since they hold our secrets.
var ours = lazyregexp.New(`^(GITHUB_TOKEN|GH_TOKEN|RELAY_.*|TOUCHSTONE_.*)$`)

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (a ACP) validate() error {
	errs := []error{need(len(a.Command) == 0 || a.Command[0] != "",
		"engine.acp.command has an empty program; name the agent's program, such as [gemini, --acp]")}
	for _, name := range a.Variables {
		switch {
		case !variableName.MatchString(name):
			errs = append(errs, fmt.Errorf("engine.acp.variables has %.40q, which is not a variable's name; write only names, such as "+
				"GOOSE_PROVIDER", name))
		case ours.MatchString(name):
			errs = append(errs, fmt.Errorf("engine.acp.variables has %s, which would let the agent act in this program's name; give "+
				"the agent a login of its own in another variable", name))
		}
	}
	return errors.Join(errs...)
}

// Models are the models, by task. An empty one, which is the default, means Engine.Model.
type Models struct {
	// Trivial reviews at most 10 lines in at most 20 files, if none touches anything that raises the
	// tier; see "What a session is shown" in the README of agent.
	Trivial string `yaml:"trivial"`
	// Lite reviews at most 100 lines in at most 20 files, if none of them is grave.
	Lite string `yaml:"lite"`
	// Full reviews everything else.
	Full string `yaml:"full"`
	// Fix applies reviews.
	Fix string `yaml:"fix"`
	// Conflict resolves the conflicts that merging the base leaves.
	Conflict string `yaml:"conflict"`
	// Check verifies blocking findings a second time, and reads the text of approvals.
	Check string `yaml:"check"`
}

// Effort is how much a model thinks, by task, as one of efforts. An empty one, which is the default, leaves
// it to the CLI.
type Effort Models

// efforts are the levels of thinking, lowest first. Not every engine supports all of them.
func efforts() []string { return []string{"minimal", "low", "medium", "high", "xhigh", "max"} }

// Task is a task for a model, as in Models.
type Task string

// The tasks, which are also the names of the settings in Models.
const (
	ReviewTrivial Task = "trivial"
	ReviewLite    Task = "lite"
	ReviewFull    Task = "full"
	Fix           Task = "fix"
	Conflict      Task = "conflict"
	Check         Task = "check"
)

// Tasks returns all tasks.
func Tasks() []Task { return []Task{ReviewTrivial, ReviewLite, ReviewFull, Fix, Conflict, Check} }

// of returns the model for a task; empty if the task is unknown.
func (m Models) of(task Task) string {
	return map[Task]string{
		ReviewTrivial: m.Trivial, ReviewLite: m.Lite, ReviewFull: m.Full, Fix: m.Fix, Conflict: m.Conflict, Check: m.Check,
	}[task]
}

// ModelFor returns the model for a task. For an unknown task, it returns Model.
func (e Engine) ModelFor(task Task) string { return cmp.Or(e.Models.of(task), e.Model) }

// EffortFor returns how much a model is to think at a task; empty leaves it to the CLI.
func (e Engine) EffortFor(task Task) string { return Models(e.Effort).of(task) }

// Engines returns the names of all engines that the settings use, Name first.
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

// another matches the name of a model with its engine. The models' own names may contain colons too, but not
// after a plain word: openrouter/x:free, anthropic.claude-v2:0.
var another = lazyregexp.New(`^([a-z][a-z0-9]*):(.*)$`)

// Choice splits the name of a model; engine is empty if the name has none.
func Choice(name string) (engine, model string) {
	if parts := another.FindStringSubmatch(name); parts != nil {
		return parts[1], parts[2]
	}
	return "", name
}

// The minimum limits of a session: a CLI takes seconds to start, and a model minutes to think.
const (
	leastTimeout = Duration(time.Minute)
	leastIdle    = Duration(10 * time.Second)
)

// MaxMemory returns MaxMemoryGB in bytes; zero means that the machine's memory decides.
func (e Engine) MaxMemory() int64 { return int64(e.MaxMemoryGB * 1e9) }

// The minimum limits of memory and processes of a session: a CLI alone takes 600 MB and dozens of threads.
const (
	leastMemoryGB  = 1.0
	mostMemoryGB   = 1e6
	leastProcesses = 200
)

func atLeast(key string, d, least Duration) error {
	return need(d >= least, "%s is %s, which is too short for any session; it must be at least %s", key, d, least)
}

// validModel reports whether a name can be the name of a model. No name begins with a dash, which a CLI would
// take for an option, or is longer than any model's.
func validModel(name string) bool {
	_, model := Choice(name)
	return len(name) <= 200 && !strings.HasPrefix(model, "-") && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Validate reports every invalid engine setting, in sentences that say what to do. It does not check that the
// engine or the model exists.
func (e Engine) Validate() error {
	var errs []error
	named := map[string][]string{"model": {e.Model}, "fallback": e.Fallback, "off": e.Off}
	for _, task := range Tasks() {
		named["models."+string(task)] = []string{e.Models.of(task)}
		if level := e.EffortFor(task); level != "" {
			errs = append(errs, oneOf("engine.effort."+string(task), level, efforts()...))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		list := key == "fallback" || key == "off"
		for _, name := range named[key] {
			if !validModel(name) || list && name == "" {
				errs = append(errs, fmt.Errorf("engine.%s has %.40q, which is not a model; write its engine's name for it, such as sonnet, "+
					"or put the engine in front, such as codex:gpt-5", key, name))
			}
		}
	}
	return errors.Join(append(errs,
		need(e.MaxTurns >= 0, "engine.max_turns is %d; it must be a number of steps such as 300, or 0 for no limit", e.MaxTurns),
		need(e.MaxMemoryGB == 0 || e.MaxMemoryGB >= leastMemoryGB && e.MaxMemoryGB <= mostMemoryGB,
			"engine.max_memory_gb is %g; it must be from %g to %g, or 0 for three quarters of this machine's memory",
			e.MaxMemoryGB, leastMemoryGB, mostMemoryGB),
		need(e.MaxProcesses == 0 || e.MaxProcesses >= leastProcesses,
			"engine.max_processes is %d, which is too few for any session; it must be at least %d, or 0 for 5000", e.MaxProcesses, leastProcesses),
		need(len(e.Command) == 0 || e.Command[0] != "",
			"engine.command has an empty program; name the model CLI's program, such as [claude], or leave it out"),
		need(len(e.Command) == 0 || e.Name != "acp", "engine.command does not apply to the engine acp; set engine.acp.command"),
		e.ACP.validate(),
		oneOf("engine.gateway", e.Gateway, On, Off),
		oneOf("engine.sandbox", e.Sandbox, Auto, Required, Off),
		atLeast("engine.timeout", e.Timeout, leastTimeout),
		atLeast("engine.idle_timeout", e.IdleTimeout, leastIdle),
		atLeast("engine.tool_timeout", e.ToolTimeout, leastIdle),
	)...)
}

// CheckSandbox returns an error if these settings require a sandbox and there is none. The argument is why
// nothing can confine a session, or nil if something can.
func (e Engine) CheckSandbox(none error) error {
	if e.Sandbox != Required || none == nil {
		return nil
	}
	return fmt.Errorf("engine.sandbox is required, but there is no sandbox here: %w; run the agent on Linux 6.2 or newer "+
		"or on macOS, or set engine.sandbox to auto", none)
}

// EngineSource returns the present settings of the engine. Nil leaves everything to the engine.
type EngineSource func() Engine

// Present are the settings now, or none.
func (s EngineSource) Present() Engine {
	if s == nil {
		return Engine{}
	}
	return s()
}

// Prices are the prices of tokens, for engines that do not report costs.
type Prices struct {
	// Date is the day on which the prices were looked up, as in 2026-01-31. None by default; required if
	// there are prices.
	Date string `yaml:"date"`
	// Models are the prices by model name, or by a prefix of it: the longest matching prefix counts. None by
	// default.
	Models map[string]Price `yaml:"models"`
}

// Price is the price of a million tokens of a model, in US dollars. Input and output are required: without
// them, tokens would cost nothing in the accounts, and no budget would hold. The default of the other prices
// is the price of input.
type Price struct {
	Input      *float64 `yaml:"input"`
	CacheWrite *float64 `yaml:"cache_write"`
	CacheRead  *float64 `yaml:"cache_read"`
	Output     *float64 `yaml:"output"`
}

// valid reports whether the price can be used.
func (p Price) valid() bool {
	wrong := func(dollars *float64) bool { return dollars != nil && !amount(*dollars) }
	return p.Input != nil && p.Output != nil && !slices.ContainsFunc([]*float64{p.Input, p.CacheWrite, p.CacheRead, p.Output}, wrong)
}

func (p Prices) validate() error {
	var errs []error
	if _, err := time.Parse(time.DateOnly, p.Date); err != nil && (p.Date != "" || len(p.Models) > 0) {
		errs = append(errs, fmt.Errorf("prices.date is %.40q; it must be the day on which you looked up the prices, such as 2026-01-31",
			p.Date))
	}
	for _, model := range slices.Sorted(maps.Keys(p.Models)) {
		if model == "" || !p.Models[model].valid() {
			errs = append(errs, fmt.Errorf("prices.models has %.40q with an invalid price; write the price of a million tokens "+
				"in US dollars, at least input and output, such as gpt-5: {input: 1.25, cache_read: 0.125, output: 10}", model))
		}
	}
	return errors.Join(errs...)
}
