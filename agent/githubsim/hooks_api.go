package githubsim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// hookConfig is a hook's configuration in the API.
type hookConfig struct {
	URL         string `json:"url"`
	ContentType string `json:"content_type"`
	Secret      string `json:"secret"`
}

type hookInput struct {
	Active *bool       `json:"active"`
	Events []string    `json:"events"`
	Config *hookConfig `json:"config"`
}

// hookSet finds the hooks that the path names, if the caller may see them: a repository's, an organization's
// or, for an app that signs with its own key, the app's.
func (c *call) hookSet() *hookSet {
	org := c.r.PathValue("org")
	switch {
	case c.repo != nil:
		if c.repo.permission(c.user) != "admin" {
			fail(errNotFound)
		}
		return c.repo.hooks
	case org != "":
		owns := slices.ContainsFunc(c.sim.repos, func(r *repo) bool { return strings.EqualFold(r.Owner, org) })
		if !c.user.Admin || !owns || c.sim.findAccount(org) != nil {
			fail(errNotFound)
		}
		return c.sim.organization(org)
	}
	c.asApp()
	return c.user.hooks
}

func (c *call) listHooks(set *hookSet) reply {
	return ok(each(page(c, set.hooks), c.renderHook))
}

func (c *call) createHook(set *hookSet) reply {
	h := &hook{of: set, id: c.sim.id(), active: true, events: []string{"push"}, contentType: "form", created: c.sim.Now()}
	c.fillHook(h)
	for _, other := range set.hooks {
		if other.url == h.url && slices.Equal(other.events, h.events) {
			return fail(unprocessable(object{"resource": "Hook", "code": "custom", "message": "Hook already exists on this " + set.target}))
		}
	}
	set.hooks = append(set.hooks, h)
	c.ping(h)
	return created(c.renderHook(h))
}

// fillHook applies the request to a hook, as a step.
func (c *call) fillHook(h *hook) {
	var in hookInput
	c.decode(&in)
	if in.Active != nil {
		h.active = *in.Active
	}
	if in.Events != nil {
		h.events = in.Events
	}
	if in.Config != nil {
		h.url, h.secret = in.Config.URL, in.Config.Secret
		h.contentType = cmp.Or(in.Config.ContentType, h.contentType)
	}
	h.updated = c.sim.Now()
	if u, err := url.Parse(h.url); err != nil || u.Host == "" {
		fail(invalid("Hook", "url", "invalid"))
	}
}

func (c *call) ping(h *hook) {
	payload := object{"zen": "Keep it logically awesome.", "hook_id": h.id, "hook": c.renderHook(h), "sender": c.sim.renderUser(c.user)}
	d := &delivery{hook: h, guid: uuid.NewString(), event: "ping"}
	if c.repo != nil {
		payload["repository"], d.repo = c.sim.renderRepo(c.repo), c.repo.id
	} else if org := c.r.PathValue("org"); org != "" {
		payload["organization"] = c.sim.renderOrganization(org)
	}
	var err error
	if d.payload, err = json.Marshal(payload); err != nil {
		panic(err) // it consists of maps, texts and numbers
	}
	c.sim.queue(d)
}

// hook finds the hook that the path names; an app has only one.
func (c *call) hook() *hook {
	set := c.hookSet()
	return must(find(set.hooks, func(h *hook) bool { return h.id == c.id("hook") || set.target == "integration" }), errNotFound)
}

func (c *call) updateHook(h *hook) reply {
	changed := *h
	c.fillHook(&changed)
	*h = changed
	return ok(c.renderHook(h))
}

func (c *call) pingHook(h *hook) reply {
	c.ping(h)
	return noContent()
}

// listDeliveries pages by a cursor, unlike the other lists: the Link header leads to deliveries older than the
// page.
// https://docs.github.com/en/rest/repos/webhooks#list-deliveries-for-a-repository-webhook
func (c *call) listDeliveries(h *hook) reply {
	query := c.r.URL.Query()
	size := min(atLeast(query.Get("per_page"), 30), 100)
	older, given := strings.CutPrefix(query.Get("cursor"), "older_")
	before, err := strconv.ParseInt(older, 10, 64)
	if query.Has("cursor") && (!given || err != nil) {
		return fail(refuse(http.StatusUnprocessableEntity, "Invalid cursor"))
	}
	newest := slices.DeleteFunc(slices.Clone(h.deliveries), func(d *delivery) bool { return given && d.id >= before })
	slices.Reverse(newest)
	if len(newest) > size {
		newest = newest[:size]
		query.Set("cursor", fmt.Sprintf("older_%d", newest[size-1].id))
		c.link = fmt.Sprintf(`<%s%s?%s>; rel="next"`, c.sim.url, c.r.URL.Path, query.Encode())
	}
	return ok(each(newest, renderDelivery))
}

// delivery finds the delivery that the path names.
func (c *call) delivery() *delivery {
	return must(find(c.hook().deliveries, func(d *delivery) bool { return d.id == c.id("delivery") }), errNotFound)
}

func (c *call) getDelivery(d *delivery) reply {
	out := renderDelivery(d)
	out["url"] = ""
	out["request"] = object{"headers": plainHeaders(d.sent), "payload": json.RawMessage(d.payload)}
	out["response"] = object{"headers": plainHeaders(d.answered), "payload": d.answer}
	return ok(out)
}

func (c *call) redeliver(d *delivery) reply {
	c.sim.queue(&delivery{hook: d.hook, guid: d.guid, event: d.event, action: d.action, payload: d.payload, repo: d.repo,
		installation: d.installation, redelivery: true})
	return reply{status: http.StatusAccepted, body: object{}}
}

func (h *hook) config() object {
	config := object{"url": h.url, "content_type": h.contentType, "insecure_ssl": "0"}
	if h.secret != "" {
		config["secret"] = "********"
	}
	return config
}

func (c *call) renderHook(h *hook) object {
	self := c.sim.api("%s/%d", h.of.path, h.id)
	last := object{"code": nil, "status": "unused", "message": nil}
	if n := len(h.deliveries); n > 0 && h.deliveries[n-1].code != 0 {
		last = object{"code": h.deliveries[n-1].code, "status": "active", "message": h.deliveries[n-1].status}
	}
	return object{
		"type": h.of.kind, "id": h.id, "name": "web", "active": h.active, "events": h.events, "config": h.config(),
		"updated_at": stamp(h.updated), "created_at": stamp(h.created), "url": self, "test_url": self + "/test",
		"ping_url": self + "/pings", "deliveries_url": self + "/deliveries", "last_response": last,
	}
}

func renderDelivery(d *delivery) object {
	known := func(id int64) any {
		if id == 0 {
			return nil
		}
		return id
	}
	return object{
		"id": d.id, "guid": d.guid, "delivered_at": d.at.Format(time.RFC3339), "redelivery": d.redelivery,
		"duration": d.took.Seconds(), "status": d.status, "status_code": d.code, "event": d.event,
		"action": orNull(d.action), "installation_id": known(d.installation), "repository_id": known(d.repo), "throttled_at": nil,
	}
}

// getAppHook and updateAppHook serve the single hook of an app, which exists from the start and has no URL at
// first.
func (c *call) getAppHook(h *hook) reply { return ok(h.config()) }

func (c *call) updateAppHook(h *hook) reply {
	var in hookConfig
	c.decode(&in)
	if u, err := url.Parse(in.URL); err != nil || u.Host == "" {
		return fail(invalid("Hook", "url", "invalid"))
	}
	h.active, h.url, h.secret = true, in.URL, in.Secret
	h.contentType = cmp.Or(in.ContentType, h.contentType)
	return c.getAppHook(h)
}

func (c *call) getApp() reply { return ok(c.sim.renderApp(c.user)) }
