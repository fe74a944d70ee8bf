package githubsim

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hookConfig is a hook's configuration in the API.
type hookConfig struct {
	URL         string `json:"url"`
	ContentType string `json:"content_type"`
	Secret      string `json:"secret"`
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
	var in struct {
		Active *bool
		Events []string
		Config *hookConfig
	}
	c.decode(&in)
	if in.Active != nil {
		h.active = *in.Active
	}
	if in.Events != nil {
		h.events = in.Events
	}
	if in.Config != nil {
		h.configure(*in.Config)
	}
	h.updated = c.sim.Now()
	if !absolute(h.url) {
		fail(invalid("Hook", "url", "invalid"))
	}
}

func (h *hook) configure(with hookConfig) {
	h.url, h.secret, h.contentType = with.URL, with.Secret, cmp.Or(with.ContentType, h.contentType)
}

func (c *call) ping(h *hook) {
	payload := object{"zen": "Keep it logically awesome.", "hook_id": h.id, "hook": c.renderHook(h), "sender": c.sim.renderUser(c.user)}
	d := &delivery{hook: h, event: "ping"}
	if c.repo != nil {
		payload["repository"], d.repo = c.sim.renderRepo(c.repo), c.repo.id
	} else if org := c.r.PathValue("org"); org != "" {
		payload["organization"] = c.sim.renderOrganization(org)
	}
	c.sim.queueNew(d, payload)
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
	older, given := strings.CutPrefix(query.Get("cursor"), "older_")
	before, err := strconv.ParseInt(older, 10, 64)
	if query.Has("cursor") && (!given || err != nil) {
		return fail(refuse(http.StatusUnprocessableEntity, "Invalid cursor"))
	}
	newest := slices.DeleteFunc(slices.Clone(h.deliveries), func(d *delivery) bool { return given && d.id >= before })
	slices.Reverse(newest)
	return ok(each(firstPage(c, newest, "cursor", func(d *delivery) string { return "older_" + idText(d.id) }), renderDelivery))
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
	return object{
		"id": d.id, "guid": d.guid, "delivered_at": d.at.Format(time.RFC3339), "redelivery": d.redelivery,
		"duration": d.took.Seconds(), "status": d.status, "status_code": d.code, "event": d.event,
		"action": orNull(d.action), "installation_id": orNull(d.installation), "repository_id": orNull(d.repo), "throttled_at": nil,
	}
}

// getAppHook and updateAppHook serve the single hook of an app, which exists from the start and has no URL at
// first.
func (c *call) getAppHook(h *hook) reply { return ok(h.config()) }

func (c *call) updateAppHook(h *hook) reply {
	var in hookConfig
	c.decode(&in)
	if !absolute(in.URL) {
		fail(invalid("Hook", "url", "invalid"))
	}
	h.active = true
	h.configure(in)
	return c.getAppHook(h)
}

func (c *call) getApp() reply { return ok(c.sim.renderApp(c.user)) }
