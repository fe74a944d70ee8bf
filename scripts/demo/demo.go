package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"touchstone/verdict"
	"touchstone/worktree/steps"
)

// needsHuman is the label with which agents give a pull request to a person. The times bound how long the
// demo waits for the end: a script needs seconds, on a busy machine minutes; a model takes longer.
const (
	needsHuman   = "needs-human"
	scriptedTime = 10 * time.Minute
	claudeTime   = 2 * time.Hour
)

// The kinds of model.
const (
	scripted = "scripted"
	claude   = "claude"
)

// options are the options of the command line.
type options struct {
	model    string
	keep     bool
	team     bool
	app      bool
	dir, bin string
}

// demo is one run.
type demo struct {
	options
	out *timeline
	// fail ends the run with an error.
	fail context.CancelCauseFunc
	// running are the processes in the order in which they were started.
	running []*process
	// goBin is the directory of the go command, goCache its build cache.
	goBin, goCache string
	// github is GitHub as the author sees it; relay is the relay's base URL.
	github github
	relay  string
	// tokens are the users' GitHub tokens; secret is the webhook's secret.
	tokens map[string]string
	secret string
	// live is the team that sets everything up; nil if the demo does it.
	live *live
}

// run creates the directory, runs the demo in it, and removes all traces.
func (o options) run(ctx context.Context) (err error) {
	switch o.model {
	case scripted:
	case claude:
		if _, err := exec.LookPath("claude"); err != nil {
			return errors.New("no claude on the PATH: install it and log in, or leave out --model for the scripted model")
		}
	default:
		return usageError{fmt.Errorf("--model is scripted or claude, not %q", o.model)}
	}
	for _, tool := range []string{"go", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("no %s on the PATH: install it, the demo cannot do without", tool)
		}
	}
	if o.dir, err = makeDir(o.dir); err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	d := &demo{
		options: o, out: newTimeline(), fail: fail, secret: rand.Text(),
		tokens: map[string]string{authorLogin: rand.Text(), reviewer: rand.Text()},
	}
	d.github.token = d.tokens[authorLogin]
	if o.team {
		d.live = &live{}
		for _, login := range developers[1:] {
			d.tokens[login] = rand.Text()
		}
	}
	err = d.play(ctx)
	// From here on, the end of a process is not a failure.
	fail(nil)
	return errors.Join(err, d.clear())
}

// makeDir creates the demo's directory and returns its absolute path without symbolic links, so that all
// programs use the same spelling.
func makeDir(dir string) (string, error) {
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp("", "touchstone-demo-")
	} else {
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("make the demo's directory: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// clear stops the running processes, the agents before the servers that they use, and removes the directory
// unless it is to be kept.
func (d *demo) clear() error {
	for _, p := range slices.Backward(d.running) {
		p.stop()
	}
	if d.keep {
		fmt.Fprintf(os.Stderr, "demo: everything is stopped; its files are kept in %s\n", d.dir)
		return nil
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return fmt.Errorf("remove the demo's directory: %w", err)
	}
	return nil
}

// play runs the demo from the first process to the merge and, if everything is to be left running, until the
// signal that ends it.
func (d *demo) play(ctx context.Context) error {
	s, err := d.loop(ctx)
	if err != nil {
		return err
	}
	if d.keep {
		d.places()
	}
	d.out.line("\n  main is at %s · %d of %d findings fixed · the reviews cost $%.2f by the model's own account\n",
		verdict.Short(s.merge), verified(s.last), len(s.last.Ledger), s.cost)
	if d.live != nil {
		l, clicks := d.live, ""
		if l.clicks > 0 {
			clicks = fmt.Sprintf(", %d clicks", l.clicks)
		}
		d.out.line("live: %d developers, %d actions (%d commands, %d answers%s), merged %s/%s#%d in %.1f minutes", len(developers),
			l.commands+l.answers+l.clicks, l.commands, l.answers, clicks, owner, name, s.number, time.Since(d.out.began).Minutes())
	}
	d.out.line("demo: %s/%s#%d merged after %d rounds in %.1fs", owner, name, s.number, s.last.Round, time.Since(d.out.began).Seconds())
	if d.keep {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return nil
}

// loop starts everything and follows the pull request until it is merged.
func (d *demo) loop(ctx context.Context) (s *story, err error) {
	limit, model := scriptedTime, "scripted: it plays prepared findings and fixes; --model claude lets your own claude think"
	if d.model == claude {
		limit, model = claudeTime, "claude, with your login"
	}
	defects, err := planted()
	if err != nil {
		return nil, err
	}
	d.out.title("touchstone", fmt.Sprintf("A pull request with %d planted defects, two agents, and nobody at the keyboard.", defects))
	d.out.fact("model", model)
	d.out.fact("directory", d.dir+", with a log for each party")
	if err := steps.Try(func() { d.build(ctx) }); err != nil {
		return nil, because(ctx, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	err = steps.Try(func() {
		d.startServers(ctx)
		if d.live != nil {
			d.joinAgents(ctx)
		} else {
			d.startAgents()
		}
		s = d.follow(ctx)
	})
	if err = because(ctx, err); errors.Is(err, errLate) || errors.Is(err, errStuck) {
		err = fmt.Errorf("%w%s", err, d.agentLogs())
	}
	return s, err
}

// because returns the reason why ctx ended, if err is due to that.
func because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// places says where to look while everything is left running.
func (d *demo) places() {
	api := d.github.url + "/repos/" + owner + "/" + name + "/pulls/1"
	ask := fmt.Sprintf("GITHUB_TOKEN= %s %%s --config %s", d.program("agent"), filepath.Join(d.dir, "author", "agent.yaml"))
	d.out.line("\n  Everything goes on running until Ctrl-C. Where to look:\n")
	d.out.fact("page", d.relay)
	d.out.fact("why", fmt.Sprintf(ask, "why 1"))
	d.out.fact("stats", fmt.Sprintf(ask, "stats"))
	d.out.fact("reviews", fmt.Sprintf(`curl -H "Authorization: Bearer $(cat %s)" %s/reviews`, filepath.Join(d.dir, "author", "token"), api))
	d.out.fact("events", fmt.Sprintf("curl -N '%s/events?after=oldest'", d.relay))
	d.out.fact("code", fmt.Sprintf("git clone %s/%s/%s.git", d.github.url, owner, name))
	d.out.fact("logs", filepath.Join(d.dir, "*.log"))
}
