// Package status shows the state of this machine's agents and, with --watch, of all agents that the relay
// knows.
package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"touchstone/agent/board"
	"touchstone/agent/cli"
	"touchstone/agent/config"
	"touchstone/agent/journal"
	"touchstone/agent/remoteconfig"
	"touchstone/agent/report"
	"touchstone/agent/terminal"
	"touchstone/relay/event"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/pause"
)

const (
	// watchEvery is how often status --watch reads this machine's state, relayEvery how often the relay's.
	watchEvery, relayEvery = time.Second, 2 * time.Second
	// Entries bounds the journal entries that touchstone status shows for each agent.
	Entries = 20
)

// Machine is the state of this machine's agents.
type Machine struct {
	// Relay are lines about the choices of the relay's administrators, or why they are unknown; nil if the
	// relay was not asked.
	Relay []string `json:"relay,omitzero"`
	// Agents has one agent per role, the reviewer first.
	Agents []Agent `json:"agents"`
}

// Agent is the state of one agent.
type Agent struct {
	Role decide.Role `json:"role"`
	// Ran says that the agent has ever run here, Running that it runs now.
	Ran     bool `json:"ran"`
	Running bool `json:"running"`
	// Now is what a running agent does.
	Now event.Beacon `json:"now,omitzero"`
	// Entries counts the acts in the journal; Last are the newest acts, in chronological order, without waits that are over.
	Entries    int                `json:"entries"`
	Last       []Act              `json:"last"`
	Resting    []journal.Rest     `json:"resting"`
	Standstill journal.Standstill `json:"standstill,omitzero"`
}

// Act is a journal entry with all its details.
type Act struct {
	journal.Entry
	Begun       time.Time       `json:"begun"`
	Ended       time.Time       `json:"ended,omitzero"`
	Outcome     journal.Outcome `json:"outcome"`
	Interrupted bool            `json:"interrupted"`
}

// Read reads the journals of this machine, with the last entries of each.
func Read(cfg config.Config, last int) (s Machine, err error) {
	for _, role := range []decide.Role{decide.Reviewer, decide.Author} {
		dir := filepath.Join(cfg.StateDir, "journal", string(role))
		a := Agent{Role: role, Last: []Act{}, Resting: []journal.Rest{}}
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			s.Agents = append(s.Agents, a)
			continue
		}
		entries, err := journal.Read(dir)
		if err != nil {
			return s, err
		}
		a.Ran, a.Entries = true, len(entries)
		var restErr, stillErr error
		a.Now, err = journal.ActivityOf(dir)
		a.Resting, restErr = journal.Resting(dir)
		a.Standstill, stillErr = journal.StandstillOf(dir)
		if err := errors.Join(err, restErr, stillErr); err != nil {
			return s, err
		}
		a.Resting, a.Running = report.List(a.Resting), a.Now.Role != ""
		entries = current(entries, a.Running)
		for _, e := range entries[max(0, len(entries)-last):] {
			a.Last = append(a.Last, Act{e, e.Begun, e.Ended, e.Outcome, e.Interrupted})
		}
		s.Agents = append(s.Agents, a)
	}
	return s, nil
}

// current leaves out the waits that are over: something came after them on their pull request, or their agent has ended.
func current(entries []journal.Entry, running bool) []journal.Entry {
	newest := map[string]journal.ID{}
	for _, e := range entries {
		newest[e.Ref] = e.ID
	}
	return slices.DeleteFunc(entries, func(e journal.Entry) bool {
		return e.Act == journal.Over || e.Act == journal.Wait && (!running || newest[e.Ref] != e.ID)
	})
}

// Write writes the status for people.
func (s Machine) Write(out io.Writer) error {
	var b strings.Builder
	for _, line := range s.Relay {
		fmt.Fprintf(&b, "relay: %s\n", terminal.Plain(line))
	}
	for _, a := range s.Agents {
		if !a.Ran {
			fmt.Fprintf(&b, "%s: never ran on this machine; start it with `touchstone run --mode %s`\n", a.Role, a.Role)
			continue
		}
		fmt.Fprintf(&b, "%s: %s, %s\n", a.Role, a.doing(time.Now()), verdict.Amount(a.Entries, "entry", "entries"))
		for _, e := range a.Last {
			fmt.Fprintln(&b, "  "+terminal.Plain(e.Entry.String()))
		}
		a.trouble(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// doing describes what the agent does now, on a line.
func (a Agent) doing(now time.Time) string {
	if !a.Running {
		return "not running"
	}
	return terminal.Plain(doing(a.Now, now))
}

// doing describes what an agent does, on a line.
func doing(b event.Beacon, now time.Time) string {
	var parts []string
	for _, w := range b.Work {
		text := w.Act + " of " + w.Pull
		if w.Phase != "" {
			text += " at " + w.Phase
		}
		parts = append(parts, fmt.Sprintf("%s for %s", text, max(0, now.Sub(w.Since)).Round(time.Second)))
	}
	if len(parts) == 0 {
		parts = []string{"idle"}
	}
	if b.Queued > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting", b.Queued))
	}
	return strings.Join(parts, "; ")
}

// trouble writes what stops the agent, or some of its models.
func (a Agent) trouble(to io.Writer) {
	for _, r := range a.Resting {
		fmt.Fprintln(to, "  "+terminal.Plain(r.String()))
	}
	if !a.Standstill.IsZero() {
		fmt.Fprintln(to, "  "+terminal.Plain(a.Standstill.String()))
	}
}

// ChosenForAll reports what the relay's administrators have chosen for all agents, which of it the agents
// here ignore, and why the relay does not answer.
func ChosenForAll(ctx context.Context, cfg config.Config) []string {
	lines := []string{}
	choices, err := remoteconfig.Ask(ctx, cfg)
	said := choices.Summary(cfg.Engine.Name)
	if len(said.Settings) > 0 {
		lines = append(lines, said.String())
	}
	for _, problem := range said.Problems {
		lines = append(lines, "ignored, since no agent on this machine can use it: "+problem)
	}
	if err != nil {
		lines = append(lines, err.Error())
	}
	return lines
}

// shared is what the relay knows about all machines.
type shared struct {
	pulls    []board.Pull
	machines []event.Beacon
	err      error
	answered bool
}

// askAll asks the relay for everything that status --watch shows of it.
func askAll(ctx context.Context, cfg config.Config, only []string) (s shared) {
	s.answered = true // also set if the relay does not answer, which is then known
	if s.pulls, s.err = cli.AskRelay(ctx, cfg, only); s.err != nil {
		return s
	}
	ctx, cancel := context.WithTimeoutCause(ctx, cli.RelayPatience, fmt.Errorf("it has not answered within %s", cli.RelayPatience))
	defer cancel()
	var answer struct {
		Machines []event.Beacon `json:"machines"`
	}
	s.err = cli.Relay(cfg).Get(ctx, "api/v1/machines", nil, &answer)
	s.machines = answer.Machines
	return s
}

// Watch draws the status on a terminal until the context ends.
func Watch(ctx context.Context, out io.Writer, cfg config.Config, only []string) error {
	const enter, leave, home, restOfLine, restOfScreen = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[H", "\x1b[K", "\x1b[J"
	asked := make(chan shared, 1)
	if cfg.Relay.URL != "" {
		go func() {
			for ctx.Err() == nil {
				select {
				case asked <- askAll(ctx, cfg, only):
				case <-ctx.Done():
				}
				pause.For(ctx, relayEvery)
			}
		}()
	}
	io.WriteString(out, enter)
	defer io.WriteString(out, leave)
	var relay shared
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		machine, err := Read(cfg, Entries)
		if err != nil {
			return err
		}
		columns, lines := terminal.Size(out)
		screen := screen(machine, relay, cfg.Relay.URL, columns, lines-1, time.Now())
		if _, err := io.WriteString(out, home+strings.Join(screen, restOfLine+"\r\n")+restOfLine+restOfScreen); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case relay = <-asked:
		case <-tick.C:
		}
	}
}

// screen returns the lines of status --watch, cut to a terminal's size: first this machine, then what the
// relay knows, then this machine's last acts as far as there is room.
func screen(machine Machine, relay shared, url string, columns, lines int, now time.Time) []string {
	var b strings.Builder
	fmt.Fprintf(&b, "touchstone, %s\n\n", now.Format(time.TimeOnly))
	for _, a := range machine.Agents {
		if a.Ran {
			fmt.Fprintf(&b, "%s here: %s\n", a.Role, a.doing(now))
			a.trouble(&b)
		}
	}
	switch {
	case url == "":
		fmt.Fprint(&b, "\nno relay is configured: only this machine is shown\n")
	case !relay.answered:
		fmt.Fprintf(&b, "\nrelay %s: waiting for its answer\n", url)
	case relay.err != nil:
		fmt.Fprintf(&b, "\nrelay %s: %s\n", url, terminal.Plain(relay.err.Error()))
	default:
		fmt.Fprintf(&b, "\nMachines at %s (%d)\n", url, len(relay.machines))
		for _, m := range relay.machines {
			fmt.Fprintf(&b, "  %s %s: %s\n", terminal.Plain(m.Role), terminal.Plain(m.Login), terminal.Plain(doing(m, now)))
		}
		fmt.Fprintf(&b, "\nOpen pull requests (%d)\n", len(relay.pulls))
		board.Rows(&b, relay.pulls, now)
	}
	for _, a := range machine.Agents {
		if len(a.Last) > 0 {
			fmt.Fprintf(&b, "\nLast by the %s here\n", a.Role)
		}
		for _, e := range a.Last[max(0, len(a.Last)-8):] {
			fmt.Fprintln(&b, "  "+terminal.Plain(e.Entry.String()))
		}
	}
	all := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	all = all[:min(len(all), lines)]
	for i, line := range all {
		if runes := []rune(line); len(runes) > columns {
			all[i] = string(runes[:columns-1]) + "…"
		}
	}
	return all
}
