// Package acp is an engine for any agent that speaks the Agent Client Protocol
// (https://agentclientprotocol.com) over its standard input and output. It knows how to start and continue a
// session, which files and permissions the agent gets, what its updates mean, and why a turn failed. It owns
// the session's home directory and, for agents whose provider it knows, the session's gateway; both exist
// until Close.
//
// The agent works in an empty directory of the home, so that it takes no settings or instructions from the
// checkout. The prompt tells it where the checkout is.
package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
	"touchstone/verdict"
	"touchstone/worktree/lazyregexp"
)

// Engine is an agent that speaks the protocol. The zero value runs "gemini --acp" from PATH.
type Engine session.Program

var _ engine.Engine = (*Engine)(nil)

// name is the name of the engine.
const name = "acp"

// standard is the command if the configuration names none.
var standard = []string{"gemini", "--acp"}

// agent is what this package knows about one agent besides the protocol. About most agents it knows nothing:
// their sessions talk to their provider directly, with the login in the configured variables.
type agent struct {
	// packageName is the agent's package on npm.
	packageName string
	login       string
	refuses     []string
	// url is the address of its provider, unless the variable address overrides it. key is the variable with
	// its API key.
	url, address, key string
	// environment returns variables that make it behave. files returns files for its home directory.
	environment func(home session.Home, model string) []string
	files       func(req engine.Request, dirs []string, orders string) (map[string][]byte, error)
	// kinds are the kinds of its tools, for an agent that does not report them. Then the title of a call begins with the tool's
	// name, and its input has the path.
	kinds map[string]acp.ToolKind
	// used reads the usage of a turn from the part of the answer that is outside the protocol; nil if there
	// is none.
	used func(meta map[string]any) verdict.Usage
}

// agents are the known agents, by the name of their program.
var agents = map[string]agent{"gemini": gemini, "goose": goose}

// known returns what is known about the agent that a command runs. The program may come after others in the
// command, such as nice.
func known(command []string) agent {
	for _, word := range command {
		base := strings.TrimSuffix(filepath.Base(word), filepath.Ext(word))
		if a, ok := agents[base]; ok {
			return a
		}
	}
	return agent{login: "name the variables of its login in engine.acp.variables"}
}

// program returns the engine's program with its command, its kind, and what is known about its agent.
func (e *Engine) program() (session.Program, session.Kind, agent) {
	p := session.Program(*e)
	if len(p.Command) == 0 {
		p.Command = standard
	}
	a := known(p.Command)
	kind := session.Kind{Name: name, Package: a.packageName, Setting: "engine.acp.command", Login: a.login, Refuses: a.refuses}
	for _, variable := range p.Variables {
		if variable != a.key {
			kind.Variables = append(kind.Variables, variable)
		}
	}
	if a.key != "" {
		// For other agents it is not known whether they find their shell by PATH.
		kind.Shell, kind.Withheld = "SHELL", []string{a.key}
	}
	return p, kind, a
}

// Name is "acp".
func (*Engine) Name() string { return name }

// Keys are the variables that may hold the agent's login: the known agent's, and those that the configuration names.
func (e *Engine) Keys() []string {
	p, _, a := e.program()
	if a.key == "" {
		return p.Variables
	}
	return append([]string{a.key}, p.Variables...)
}

// Probe connects to the agent, which reports its name and version.
func (e *Engine) Probe(ctx context.Context) (engine.Version, error) {
	p, _, a := e.program()
	place, err := session.NewHome(p.TempDir)
	if err != nil {
		return engine.Version{}, engine.Classified(err)
	}
	// An error here does not change what is known about the agent; the same below.
	defer func() { _ = place.Remove() }()
	version := engine.Version{Engine: name}
	c, err := e.open(ctx, engine.Request{Role: engine.Reviewer, Dir: place.Dir, Timeout: probeTimeout, IdleTimeout: probeTimeout})
	if err != nil {
		return version, err
	}
	defer func() { _ = c.Close() }()
	t := c.turn("")
	run := c.run(ctx, t)
	if !errors.Is(run.Stopped, errDone) || t.failure != nil {
		return version, c.failure(run, t)
	}
	version.Number = cmp.Or(t.agentName, "an agent without a name")
	if version.Path, err = process.LookPath(p.Command[0]); err != nil {
		return version, err
	}
	switch {
	case a.key == "":
		version.Direct = "the provider of this agent is not known; a session's cost is known only if the agent reports it, and budgets do not " +
			"limit it"
		return version, nil
	case p.Direct:
		version.Direct = "engine.gateway is off, so every session has the key"
	}
	version.Provider = cmp.Or(p.Lookup(a.address), a.url)
	return version, nil
}

// probeTimeout is how long an agent may take to start and report what it is: such programs take seconds to
// load on an idle machine, and much longer on a busy one.
const probeTimeout = 2 * time.Minute

// Open starts a session.
func (e *Engine) Open(ctx context.Context, req engine.Request) (engine.Session, error) {
	if _, _, a := e.program(); a.key != "" && req.Model == "" {
		return nil, engine.Errorf(engine.Invalid, "the agent uses several models if none is named, but a session must use one; set "+
			"engine.model")
	}
	c, err := e.open(ctx, req)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (e *Engine) open(ctx context.Context, req engine.Request) (*conversation, error) {
	p, kind, a := e.program()
	var provider *gateway.Provider
	if a.key != "" {
		key := p.Lookup(a.key)
		if key == "" {
			return nil, kind.Failure(engine.Auth, "")
		}
		provider = &gateway.Provider{URL: cmp.Or(p.Lookup(a.address), a.url), Key: key}
	}
	gated, err := session.OpenGated(ctx, p, kind, req, provider)
	if err != nil {
		return nil, err
	}
	c := &conversation{Gated: gated, agent: a, secrets: secrets(p)}
	if err := c.lay(); err != nil {
		return nil, engine.Classified(errors.Join(err, gated.Close()))
	}
	return c, nil
}

// ofSecret matches the names of variables whose values are a login rather than the name of a model or an address.
var ofSecret = lazyregexp.New(`(?i)KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL`)

// leastSecret is how many bytes a login has at least. A shorter value, such as that of MAX_TOKENS, may be any part of a text.
const leastSecret = 8

// secrets are the logins that the agent itself gets, the longest first, as one may be a part of another.
func secrets(p session.Program) (values []string) {
	for _, variable := range p.Variables {
		if value := strings.TrimSpace(p.Lookup(variable)); len(value) >= leastSecret && ofSecret.MatchString(variable) {
			values = append(values, value)
		}
	}
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	return values
}

// lay prepares the home directory, which contains nothing of the checkout.
func (c *conversation) lay() error {
	dirs := append([]string{c.Request.Dir}, c.Request.ReadDirs...)
	for _, dir := range dirs {
		target, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return fmt.Errorf("find the session's directories: %w", err)
		}
		c.dirs = append(c.dirs, target)
	}
	c.orders = c.Request.Instructions + fmt.Sprintf(whereabouts, c.dirs[0])
	files := map[string][]byte{workDir + "/.git": []byte("This is no repository, nor part of one.\n")}
	if c.agent.files != nil {
		own, err := c.agent.files(c.Request, c.dirs, c.orders)
		if err != nil {
			return err
		}
		maps.Copy(files, own)
	}
	for path, content := range files {
		if err := c.Home.Write(path, content); err != nil {
			return err
		}
	}
	return nil
}

// workDir is the directory in the home in which the agent works.
const workDir = "work"

// whereabouts tells the model that the checkout is not its working directory.
const whereabouts = `

# Where your files are

Your tools start in an empty directory. Wherever else your working directory is spoken of, %[1]s is meant: that is
where the repository is checked out. So name each file by its absolute path, which begins with that, give tools that
search or list that directory or one below it, and begin every shell command in it.`
