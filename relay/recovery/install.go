package recovery

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/worktree/pause"
)

const (
	// pingTimeout is how long a ping may take to arrive and to be listed.
	pingTimeout = 30 * time.Second
	// pingCheck is the time between two checks for the ping.
	pingCheck = 500 * time.Millisecond
)

// Webhook describes what GitHub sends to a relay.
type Webhook struct {
	// Owner is a repository or an organization. An App's webhook is part of the App.
	Owner Target
	// URL is the relay's endpoint, such as https://relay.example.com/webhooks/github.
	URL string
	// Secret signs the deliveries.
	Secret string
	// Events are the event types to send; "*" stands for all of them.
	Events []string
}

// Install creates the webhook or, if one with the same address exists, updates it, and waits until a ping has
// arrived at the address. It reports whether the webhook is new.
func (g GitHub) Install(ctx context.Context, hook Webhook) (created bool, err error) {
	if hook.Owner.kind == app {
		return false, fmt.Errorf("the webhook of %s belongs to the App; set its address and secret in the App's settings on GitHub",
			hook.Owner)
	}
	c, err := g.client(hook.Owner)
	if err != nil {
		return false, err
	}
	all, err := c.hooks(ctx, hook.Owner)
	if err != nil {
		return false, err
	}
	wanted := &github.Hook{
		Name: new("web"), Active: new(true), Events: hook.Events,
		Config: &github.HookConfig{
			URL: &hook.URL, Secret: &hook.Secret,
			ContentType: new("json"), InsecureSSL: new("0"),
		},
	}
	for _, h := range all {
		if h.GetConfig().GetURL() == hook.URL {
			return false, c.update(ctx, hook, fmt.Sprintf("%s/%d", hook.Owner.hooksPath(), h.GetID()), wanted)
		}
	}
	var made github.Hook
	if _, err := c.call(ctx, hook.Owner, http.MethodPost, hook.Owner.hooksPath(), wanted, &made); err != nil {
		return false, hook.Owner.explain(err)
	}
	// GitHub pings a new webhook without being asked.
	return true, c.awaitPing(ctx, hook, fmt.Sprintf("%s/%d", hook.Owner.hooksPath(), made.GetID()), nil)
}

func (c client) update(ctx context.Context, hook Webhook, path string, wanted *github.Hook) error {
	if _, err := c.call(ctx, hook.Owner, http.MethodPatch, path, wanted, nil); err != nil {
		return hook.Owner.explain(err)
	}
	before, err := c.pings(ctx, hook.Owner, path)
	if err != nil {
		return err
	}
	if _, err := c.call(ctx, hook.Owner, http.MethodPost, path+"/pings", nil, nil); err != nil {
		return hook.Owner.explain(err)
	}
	return c.awaitPing(ctx, hook, path, before)
}

// pings returns the answered pings among the latest deliveries, by their ids.
func (c client) pings(ctx context.Context, t Target, path string) (map[int64]*github.HookDelivery, error) {
	var latest []*github.HookDelivery
	if _, err := c.call(ctx, t, http.MethodGet, path+"/deliveries?per_page=30", nil, &latest); err != nil {
		return nil, t.explain(err)
	}
	pings := map[int64]*github.HookDelivery{}
	for _, d := range latest {
		if d.GetEvent() == "ping" && d.GetStatusCode() != 0 {
			pings[d.GetID()] = d
		}
	}
	return pings, nil
}

// awaitPing waits for a ping that is not in before, and says how it was answered.
func (c client) awaitPing(ctx context.Context, hook Webhook, path string, before map[int64]*github.HookDelivery) error {
	for deadline := time.Now().Add(pingTimeout); time.Now().Before(deadline); {
		pings, err := c.pings(ctx, hook.Owner, path)
		if err != nil {
			return err
		}
		for id, ping := range pings {
			if before[id] == nil {
				return hook.judge(ping)
			}
		}
		if !pause.For(ctx, pingCheck) {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("the webhook is installed, but no ping to %s appeared on GitHub after %s; check its recent deliveries in "+
		"the settings on GitHub", hook.URL, pingTimeout)
}

// judge says what the answer to a ping means.
func (w Webhook) judge(ping *github.HookDelivery) error {
	const installed = "the webhook is installed, but its ping failed"
	mistaken := fmt.Sprintf("if the address is wrong, delete this webhook in the settings of the %s on GitHub", w.Owner)
	switch code := ping.GetStatusCode(); {
	case code/100 == 2:
		return nil
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%s: the relay rejected its signature. GitHub now has this secret, and every delivery fails until "+
			"RELAY_GITHUB_SECRET is the same here and where the relay runs; then run this again", installed)
	case code == http.StatusNotFound:
		return fmt.Errorf("%s: no source at %s; the address must end in the name of one of the relay's sources; %s", installed,
			w.URL, mistaken)
	default:
		return fmt.Errorf("%s: GitHub reports %q (%d) for %s; check that the relay is running and that GitHub can reach it; %s", installed,
			ping.GetStatus(), code, w.URL, mistaken)
	}
}
