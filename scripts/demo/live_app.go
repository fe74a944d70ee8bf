package main

import (
	"context"
	"fmt"
	"regexp"

	"touchstone/agent/githubsim/person"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// The commands of the README for a reviewer that is a GitHub App.
const (
	typeJoinApp = "touchstone join 'https://relay.acme.dev/join#inv_…' --app"
	typeApp     = "RELAY_TOKEN=… touchstone app create --organization acme"
)

// appLogin is the login of the App that app create creates for the organization.
const appLogin = "touchstone-" + owner + "[bot]"

// reviewer is the login whose reviews count.
func (d *demo) reviewer() string {
	if d.app {
		return appLogin
	}
	return reviewer
}

// joinAsApp has the reviewer's machine join and act as an App, which a person creates and installs in the
// browser.
func (d *demo) joinAsApp(ctx context.Context, link string) {
	party := string(decide.Reviewer)
	d.join(ctx, party, reviewer, typeJoinApp, link)
	token := d.relayToken()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	browser := &browser{person: person.Person{GitHub: d.github.url}, fail: fail}
	err := steps.Try(func() {
		d.types(ctx, browser, party, []string{"RELAY_TOKEN=" + token, d.provider()}, typeApp, nil, "--no-browser")
	})
	d.live.clicks += browser.clicks
	steps.Must(because(ctx, err))
}

// provider makes the simulated GitHub stand in for the model's provider, which has to answer.
func (d *demo) provider() string { return "ANTHROPIC_BASE_URL=" + d.github.url }

// browser is a person who reads a command's output and opens the page that it names. It is used by one
// command at a time.
type browser struct {
	person person.Person
	said   []byte
	clicks int
	// fail ends the command, which would otherwise wait for what has failed here.
	fail func(error)
}

// page matches the address of the page that creates the App, as app create prints it.
var page = regexp.MustCompile(`make the App in your browser, at (http://\S+)\n`)

// Write implements io.Writer. The command waits for the result of this, and prints more in the meantime.
func (b *browser) Write(text []byte) (int, error) {
	b.said = append(b.said, text...)
	if found := page.FindSubmatch(b.said); found != nil && b.clicks == 0 {
		b.clicks = 2 // one for the App, one for its repositories
		go func() {
			install, err := b.person.MakeApp(string(found[1]))
			if err == nil {
				err = person.Install(install, owner+"/"+name)
			}
			if err != nil {
				b.fail(fmt.Errorf("make the App in the browser: %w", err))
			}
		}()
	}
	return len(text), nil
}
