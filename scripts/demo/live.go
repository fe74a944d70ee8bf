package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// developers are the team of a demo with --live. The first opens the pull request.
var developers = []string{authorLogin, "mona", "hopper", "lovelace", "turing"}

// The commands with which the README sets a team up, word for word and in its order.
const (
	typeUp       = "touchstone-relay up --domain relay.acme.dev --reviewer acme-reviewer --service"
	typeJoin     = "touchstone join 'https://relay.acme.dev/join#inv_…'"
	typeHook     = "GITHUB_TOKEN=… touchstone-relay hook install --repo acme/app"
	typeReviewer = "touchstone-relay invite create --role reviewer --name reviewer --repo acme/app"
	typeTeam     = "touchstone-relay invite create --name alice --name bob --repo acme/app"
)

// typed are the commands as the README shows them: the link again for each machine, and the variants for an
// App.
var typed = []string{typeUp, typeJoin, typeHook, typeReviewer, typeTeam, typeJoin, typeJoinApp, typeApp}

// live is a team that sets everything up with the README's commands, each member on their own machine with an
// empty home directory.
type live struct {
	// commands counts the commands that a person typed so far, answers the questions answered with yes
	// (whether to start the agent), clicks the confirmations in the browser.
	commands, answers, clicks int
}

// links matches the links that the relay prints for other machines.
var links = regexp.MustCompile(`http://\S+/join#inv_[a-z2-7_]+`)

// types runs a command of the README as if a person typed it on a party's machine, and returns its output.
// seen also gets it, as it is printed. here maps words to their replacements in this demo, and more are arguments
// that only a simulation needs.
func (d *demo) types(
	ctx context.Context, seen io.Writer, party string, env []string, command string, here map[string][]string, more ...string,
) string {
	home, own := d.home(party)
	d.tell(party, command)
	return watch(ctx, seen, home, append(own, env...), append(d.words(command, here), more...)...)
}

// tell counts a command that a person types, and shows it.
func (d *demo) tell(party, command string) {
	d.live.commands++
	d.out.fact(party, command)
}

// words returns the program and the arguments of a command of the README. here maps phrases of the command to
// their replacements.
func (d *demo) words(command string, here map[string][]string) []string {
	var argv []string
	for words := strings.Fields(command); len(words) > 0; {
		taken, by := 1, []string{words[0]}
		for phrase, values := range here {
			if n := len(strings.Fields(phrase)); strings.Join(words[:min(n, len(words))], " ") == phrase {
				taken, by = n, values
			}
		}
		switch {
		case len(argv) == 0 && strings.Contains(words[0], "="): // a variable, which is in the environment
			by = nil
		case len(argv) == 0:
			by = []string{d.program(map[string]string{"touchstone": "agent", "touchstone-relay": "relay"}[words[0]])}
		}
		argv, words = append(argv, by...), words[taken:]
	}
	return argv
}

// upRelay sets the relay up like its administrator: up, joining, and the webhook.
func (d *demo) upRelay(ctx context.Context) {
	_, env := d.home("relay")
	d.tell("relay", typeUp)
	p, url := d.serve(ctx, "relay", env, d.words(typeUp, map[string][]string{
		"acme-reviewer": {d.reviewer()},
		// A domain needs a certificate, and a service needs a system that runs it; this demo does without
		// both.
		"--service":               nil,
		"--domain relay.acme.dev": nil,
	})...)
	d.relay = url
	said := steps.Got(os.ReadFile(p.log))
	first := links.FindString(string(said))
	if first == "" {
		steps.Fail("the relay printed no link for its administrator:\n%s", tail(p.log))
	}
	// The relay printed the link before its port was known; with a domain this does not happen.
	_, code, _ := strings.Cut(first, "/join#")
	d.join(ctx, "admin", authorLogin, typeJoin, d.relay+"/join#"+code)
	if !d.app { // an App sets up its own webhook
		d.types(ctx, io.Discard, "relay", []string{"GITHUB_TOKEN=" + d.tokens[authorLogin]}, typeHook, nil,
			"--url", d.relay+"/webhooks/github", "--github-api", d.github.url+"/")
	}
}

// invite has the relay print a link for each name.
func (d *demo) invite(ctx context.Context, command string, names ...string) []string {
	here := map[string][]string{}
	for _, name := range names {
		here["--name alice --name bob"] = append(here["--name alice --name bob"], "--name", name)
	}
	said := d.types(ctx, io.Discard, "relay", nil, command, here, "--url", d.relay)
	found := links.FindAllString(said, -1)
	if len(found) != len(names) {
		steps.Fail("the relay printed %d links for %d names:\n%s", len(found), len(names), said)
	}
	return found
}

// join has a machine join with a link. Beforehand a person has a GitHub login there, here a file with its
// token, and a model CLI, here the scripted one.
func (d *demo) join(ctx context.Context, party, user, command, link string) {
	home, _ := d.home(party)
	token, config := filepath.Join(home, "token"), filepath.Join(home, "config", "touchstone", "agent.yaml")
	steps.Must(os.WriteFile(token, []byte(d.tokens[user]+"\n"), 0o600))
	engine := d.engine()
	steps.Must(os.MkdirAll(filepath.Dir(config), 0o700))
	machine := fmt.Sprintf("github: {api_url: %q}\nengine: {command: [%s]}\nrounds: {backoff: 5s}\n", d.github.url+"/", engine)
	steps.Must(os.WriteFile(config, []byte(machine), 0o600))
	here := map[string][]string{"'https://relay.acme.dev/join#inv_…'": {link}}
	if command == typeJoinApp {
		d.types(ctx, io.Discard, party, nil, command, here)
		return
	}
	d.types(ctx, io.Discard, party, []string{d.provider()}, command, here, "--github-token-file", token)
}

// joinAgents has the reviewer's machine and each developer's machine join, and starts the agents that the
// pull request needs, like touchstone service install.
func (d *demo) joinAgents(ctx context.Context) {
	reviewers := d.invite(ctx, typeReviewer, "reviewer")
	if d.app {
		d.joinAsApp(ctx, reviewers[0])
	} else {
		d.join(ctx, string(decide.Reviewer), reviewer, typeJoin, reviewers[0])
	}
	team := d.invite(ctx, typeTeam, developers...)
	for i, login := range developers {
		party := login
		if i == 0 {
			party = string(decide.Author)
		}
		d.join(ctx, party, login, typeJoin, team[i])
	}
	d.live.answers = 1 + len(developers) // each machine's join asks whether to start the agent
	for _, role := range []decide.Role{decide.Reviewer, decide.Author} {
		_, env := d.home(string(role))
		d.start(string(role), append(env, noProvider), d.program("agent"), "run", "--mode", string(role))
	}
}

// relayToken returns the token for following the relay: the administrator's, if there are tokens.
func (d *demo) relayToken() string {
	if d.live == nil {
		return ""
	}
	return strings.TrimSpace(string(steps.Got(os.ReadFile(filepath.Join(d.dir, "admin", "config", "touchstone", "relay-admin-token")))))
}
