package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"touchstone/verdict/decide"
)

// developers are the team of a demo with --live, the first of whom opens the pull request.
var developers = []string{authorLogin, "mona", "hopper", "lovelace", "turing"}

// live is a team that sets everything up with the README's commands, each member on a machine of their
// own with an empty home directory.
type live struct {
	// actions are the commands so far that a person types.
	actions int
	// settings is the file with the relay's settings.
	settings string
}

// links are what the relay prints to be opened on other machines.
var links = regexp.MustCompile(`http://\S+/join#inv_[a-z2-7_]+`)

// types runs a command as a person types it on a party's machine, and returns what it prints.
func (d *demo) types(ctx context.Context, party string, more []string, argv ...string) (string, error) {
	home, env, err := d.home(party)
	if err != nil {
		return "", err
	}
	d.live.actions++
	d.out.fact(party, shown(argv))
	return output(ctx, home, append(env, more...), argv...)
}

// shown is a command without the folders of this machine, and without the secret of a link.
func shown(argv []string) string {
	words := append([]string{filepath.Base(argv[0])}, argv[1:]...)
	for i, word := range words {
		if filepath.IsAbs(word) {
			word = filepath.Base(word)
		}
		words[i] = links.ReplaceAllString(word, "LINK")
	}
	return strings.Join(words, " ")
}

// upRelay sets the relay up as its administrator does: up, joining, and the webhook.
func (d *demo) upRelay(ctx context.Context) error {
	home, env, err := d.home("relay")
	if err != nil {
		return err
	}
	address, state := filepath.Join(home, "address"), filepath.Join(home, "state")
	argv := []string{d.program("relay"), "up", "--reviewer", reviewer, "--dir", state, "--listen", "127.0.0.1:0", "--address-file", address}
	d.live.actions++
	d.out.fact("relay", shown(argv[:4]))
	p, err := d.start("relay", env, argv...)
	if err != nil {
		return err
	}
	at, err := p.address(ctx, address)
	if err != nil {
		return err
	}
	d.relay, d.live.settings = "http://"+at, filepath.Join(state, "relay.yaml")
	said, err := os.ReadFile(p.log)
	if err != nil {
		return err
	}
	first := links.FindString(string(said))
	if first == "" {
		return fmt.Errorf("the relay printed no link for its administrator:\n%s", tail(p.log))
	}
	// The port was not known when it was printed, as it is where there is a domain.
	_, code, _ := strings.Cut(first, "/join#")
	if err := d.join(ctx, "admin", authorLogin, d.relay+"/join#"+code); err != nil {
		return err
	}
	_, err = d.types(ctx, "relay", []string{"GITHUB_TOKEN=" + d.tokens[authorLogin]}, d.program("relay"), "hook", "install",
		"--config", d.live.settings, "--url", d.relay+"/webhooks/github", "--repo", owner+"/"+name, "--github-api", d.github.url+"/")
	return err
}

// invite has the relay print a link for each name.
func (d *demo) invite(ctx context.Context, role decide.Role, names ...string) ([]string, error) {
	argv := []string{d.program("relay"), "invite", "create", "--config", d.live.settings,
		"--url", d.relay, "--repo", owner + "/" + name, "--role", string(role)}
	for _, name := range names {
		argv = append(argv, "--name", name)
	}
	said, err := d.types(ctx, "relay", nil, argv...)
	found := links.FindAllString(said, -1)
	if err == nil && len(found) != len(names) {
		err = fmt.Errorf("the relay printed %d links for %d names:\n%s", len(found), len(names), said)
	}
	return found, err
}

// join has a machine join with a link. What a person has there beforehand is a login at GitHub, here
// a file with its token, and a model CLI, here the scripted one.
func (d *demo) join(ctx context.Context, party, user, link string) error {
	home, _, err := d.home(party)
	if err != nil {
		return err
	}
	token, config := filepath.Join(home, "token"), filepath.Join(home, "config", "touchstone", "agent.yaml")
	if err := os.WriteFile(token, []byte(d.tokens[user]+"\n"), 0o600); err != nil {
		return err
	}
	engine, err := d.engine()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		return err
	}
	machine := fmt.Sprintf("github: {api_url: %q}\nengine: {command: [%s]}\nrounds: {backoff: 5s}\n", d.github.url+"/", engine)
	if err := os.WriteFile(config, []byte(machine), 0o600); err != nil {
		return err
	}
	// The simulated GitHub stands for the provider, which has to answer.
	_, err = d.types(ctx, party, []string{"ANTHROPIC_BASE_URL=" + d.github.url}, d.program("agent"), "join", link, "--github-token-file",
		token)
	return err
}

// joinAgents has the reviewer's machine and each developer's join, and starts the agents that the pull
// request needs, as touchstone service install would.
func (d *demo) joinAgents(ctx context.Context) error {
	reviewers, err := d.invite(ctx, decide.Reviewer, "reviewer")
	if err != nil {
		return err
	}
	if err := d.join(ctx, string(decide.Reviewer), reviewer, reviewers[0]); err != nil {
		return err
	}
	team, err := d.invite(ctx, decide.Author, developers...)
	if err != nil {
		return err
	}
	for i, login := range developers {
		party := login
		if i == 0 {
			party = string(decide.Author)
		}
		if err := d.join(ctx, party, login, team[i]); err != nil {
			return err
		}
	}
	for _, role := range []decide.Role{decide.Reviewer, decide.Author} {
		_, env, err := d.home(string(role))
		if err != nil {
			return err
		}
		if _, err := d.start(string(role), append(env, noProvider), d.program("agent"), "run", "--mode", string(role)); err != nil {
			return err
		}
	}
	return nil
}

// relayToken is what the story follows the relay with: the administrator's, where there are tokens.
func (d *demo) relayToken() (string, error) {
	if d.live == nil {
		return "", nil
	}
	text, err := os.ReadFile(filepath.Join(d.dir, "admin", "config", "touchstone", "relay-token"))
	return strings.TrimSpace(string(text)), err
}
