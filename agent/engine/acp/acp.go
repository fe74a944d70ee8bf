// Package acp drives any agent that speaks the Agent Client Protocol
// (https://agentclientprotocol.com) over its standard input and output as an engine: how a session
// is begun and gone on with, which files and permissions the agent is given, what its updates mean,
// and why a turn failed. It owns the session's home directory and, for an agent whose provider it
// knows, its gateway; both last until Close.
//
// The agent works in an empty directory of the home, so that it takes no settings and no orders from the
// checkout, and is told where that is.
package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"touchstone/agent/engine"
	"touchstone/agent/engine/gateway"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/session"
	"touchstone/verdict"
)

// Engine is an agent that speaks the protocol. The zero value runs "gemini --acp" from PATH.
type Engine session.Program

var _ engine.Engine = (*Engine)(nil)

// name is the engine's.
const name = "acp"

// standard is the command where the configuration names none.
var standard = []string{"gemini", "--acp"}

// agent is what is known of one agent besides the protocol. Nothing is of most: their sessions ask
// their provider themselves, with the login that the variables of the configuration hold.
type agent struct {
	// packageName is its package on npm.
	packageName string
	login       string
	refuses     []string
	// url is where its provider is, unless the variable address says otherwise; key is the variable of
	// its API key.
	url, address, key string
	// environment makes it behave; files are laid into its home.
	environment func(home session.Home, model string) []string
	files       func(req engine.Request, dirs []string, orders string) (map[string][]byte, error)
	// kind tells the kind of a call by its title, where the agent does not say it; the path is in its input then.
	kind func(title string) acp.ToolKind
	// used reads what a turn has used in what its answer says besides the protocol; nil if it says nothing.
	used func(meta map[string]any) verdict.Usage
}

// agents are those that something is known of, by their program's name.
var agents = map[string]agent{"gemini": gemini, "goose": goose}

// known gives what is known of the agent that a command runs. The program may stand behind others,
// such as nice.
func known(command []string) agent {
	for _, word := range command {
		base := strings.TrimSuffix(filepath.Base(word), filepath.Ext(word))
		if a, ok := agents[base]; ok {
			return a
		}
	}
	return agent{login: "name the variables of its login in engine.acp.variables"}
}

// program is the engine's with its command, its kind, and what is known of its agent.
func (e *Engine) program() (session.Program, session.Kind, agent) {
	p := session.Program(*e)
	if len(p.Command) == 0 {
		p.Command = standard
	}
	a := known(p.Command)
	kind := session.Kind{Name: name, Package: a.packageName, Login: a.login, Refuses: a.refuses}
	for _, variable := range p.Variables {
		if variable != a.key {
			kind.Variables = append(kind.Variables, variable)
		}
	}
	if a.key != "" {
		// Whether another one finds its shell by PATH is not known.
		kind.Shell, kind.Withheld = "SHELL", []string{a.key}
	}
	return p, kind, a
}

// Name is "acp".
func (*Engine) Name() string { return name }

// Probe begins to talk to the agent, which tells its name and version.
func (e *Engine) Probe(ctx context.Context) (engine.Version, error) {
	p, _, a := e.program()
	place, err := session.NewHome(p.TempDir)
	if err != nil {
		return engine.Version{}, session.Unstarted(err)
	}
	// What the agent is, is known all the same; below too.
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
		version.Direct = "nothing is known of this agent's provider; a session's cost is known only if the agent tells it, and not bounded"
		return version, nil
	case p.Direct:
		version.Direct = "engine.gateway is off, so that the key is in every session"
	}
	version.Provider = cmp.Or(p.Lookup(a.address), a.url)
	return version, nil
}

// probeTimeout is how long an agent may take to start and say what it is: such programs load for seconds on
// a machine of their own, and for many of these on one that is at work.
const probeTimeout = 2 * time.Minute

// Open begins a session.
func (e *Engine) Open(ctx context.Context, req engine.Request) (engine.Session, error) {
	if _, _, a := e.program(); a.key != "" && req.Model == "" {
		return nil, engine.Errorf(engine.Invalid, "the agent asks several models where none is named, and a session keeps to one; set "+
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
	c := &conversation{Gated: gated, agent: a}
	if err := c.lay(); err != nil {
		return nil, session.Unstarted(errors.Join(err, gated.Close()))
	}
	return c, nil
}

// lay prepares the home, in which nothing of the checkout is.
func (c *conversation) lay() error {
	dirs := append([]string{c.Request.Dir}, c.Request.ReadDirs...)
	for _, dir := range dirs {
		absolute, err := filepath.Abs(dir)
		if err == nil {
			absolute, err = filepath.EvalSymlinks(absolute)
		}
		if err != nil {
			return fmt.Errorf("find the session's directories: %w", err)
		}
		c.dirs = append(c.dirs, absolute)
	}
	c.orders = c.Request.Instructions + fmt.Sprintf(whereabouts, c.dirs[0])
	files := map[string][]byte{workDir + "/.git": []byte("This is no repository, nor part of one.\n")}
	if c.agent.files != nil {
		own, err := c.agent.files(c.Request, c.dirs, c.orders)
		if err != nil {
			return err
		}
		for path, content := range own {
			files[path] = content
		}
	}
	for path, content := range files {
		if err := c.Home.Write(path, content); err != nil {
			return err
		}
	}
	return nil
}

// workDir is where in the home the agent works.
const workDir = "work"

// whereabouts tell the model of the place where it is not.
const whereabouts = `

# Where your files are

Your tools start in an empty directory. Wherever else your working directory is spoken of, %[1]s is meant: that is
where the repository is checked out. So name each file by its absolute path, which begins with that, give tools that
search or list that directory or one below it, and begin every shell command in it.`
