package githubsim

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// hookConfig is a hook's configuration on the wire.
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

func (c *call) needAdmin() error {
	if c.repo.permission(c.user) != "admin" {
		return errNotFound
	}
	return nil
}

func (c *call) listHooks() (reply, error) {
	if err := c.needAdmin(); err != nil {
		return reply{}, err
	}
	return ok(each(page(c, c.repo.hooks), c.renderHook))
}

func (c *call) createHook() (reply, error) {
	if err := c.needAdmin(); err != nil {
		return reply{}, err
	}
	h := &hook{id: c.sim.id(), active: true, events: []string{"push"}, contentType: "form", created: now()}
	if err := c.fillHook(h); err != nil {
		return reply{}, err
	}
	for _, other := range c.repo.hooks {
		if other.url == h.url && slices.Equal(other.events, h.events) {
			return reply{}, unprocessable(object{"resource": "Hook", "code": "custom", "message": "Hook already exists on this repository"})
		}
	}
	c.repo.hooks = append(c.repo.hooks, h)
	c.ping(h)
	return created(c.renderHook(h))
}

// fillHook reads the request into a hook.
func (c *call) fillHook(h *hook) error {
	var in hookInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.Active != nil {
		h.active = *in.Active
	}
	if in.Events != nil {
		h.events = in.Events
	}
	if in.Config != nil {
		h.url, h.secret = in.Config.URL, in.Config.Secret
		if in.Config.ContentType != "" {
			h.contentType = in.Config.ContentType
		}
	}
	h.updated = now()
	if u, err := url.Parse(h.url); err != nil || u.Host == "" {
		return invalid("Hook", "url", "invalid")
	}
	return nil
}

func (c *call) ping(h *hook) {
	payload, err := json.Marshal(object{
		"zen": "Keep it logically awesome.", "hook_id": h.id, "hook": c.renderHook(h),
		"repository": c.sim.renderRepo(c.repo), "sender": c.sim.renderUser(c.user),
	})
	if err != nil {
		panic(err) // made of maps, texts and numbers
	}
	c.sim.queue(h, &delivery{guid: newGUID(), event: "ping", payload: payload, repo: c.repo.id})
}

// withHook finds the hook the path names.
func withHook(run func(c *call, h *hook) (reply, error)) endpoint {
	return func(c *call) (reply, error) {
		if err := c.needAdmin(); err != nil {
			return reply{}, err
		}
		for _, h := range c.repo.hooks {
			if h.id == c.id("hook") {
				return run(c, h)
			}
		}
		return reply{}, errNotFound
	}
}

func (c *call) getHook(h *hook) (reply, error) { return ok(c.renderHook(h)) }

func (c *call) updateHook(h *hook) (reply, error) {
	changed := *h
	if err := c.fillHook(&changed); err != nil {
		return reply{}, err
	}
	*h = changed
	return ok(c.renderHook(h))
}

func (c *call) deleteHook(h *hook) (reply, error) {
	c.repo.hooks = slices.DeleteFunc(c.repo.hooks, func(other *hook) bool { return other == h })
	delete(c.sim.held, h.id)
	return noContent()
}

func (c *call) pingHook(h *hook) (reply, error) {
	c.ping(h)
	return noContent()
}

func (c *call) listDeliveries(h *hook) (reply, error) {
	newest := slices.Clone(h.deliveries)
	slices.Reverse(newest)
	return ok(each(page(c, newest), renderDelivery))
}

// withDelivery finds the delivery the path names.
func withDelivery(run func(c *call, h *hook, d *delivery) (reply, error)) endpoint {
	return withHook(func(c *call, h *hook) (reply, error) {
		for _, d := range h.deliveries {
			if d.id == c.id("delivery") {
				return run(c, h, d)
			}
		}
		return reply{}, errNotFound
	})
}

func (c *call) getDelivery(_ *hook, d *delivery) (reply, error) {
	out := renderDelivery(d)
	out["url"] = ""
	out["request"] = object{"headers": plainHeaders(d.sent), "payload": json.RawMessage(d.payload)}
	out["response"] = object{"headers": plainHeaders(d.answered), "payload": d.answer}
	return ok(out)
}

func (c *call) redeliver(h *hook, d *delivery) (reply, error) {
	c.sim.queue(h, &delivery{guid: d.guid, event: d.event, action: d.action, payload: d.payload, repo: d.repo, redelivery: true})
	return reply{status: http.StatusAccepted, body: object{}}, nil
}

func (c *call) renderHook(h *hook) object {
	self := c.sim.api("/repos/%s/hooks/%d", c.repo.fullName(), h.id)
	config := object{"url": h.url, "content_type": h.contentType, "insecure_ssl": "0"}
	if h.secret != "" {
		config["secret"] = "********"
	}
	last := object{"code": nil, "status": "unused", "message": nil}
	if n := len(h.deliveries); n > 0 && h.deliveries[n-1].code != 0 {
		last = object{"code": h.deliveries[n-1].code, "status": "active", "message": h.deliveries[n-1].status}
	}
	return object{
		"type": "Repository", "id": h.id, "name": "web", "active": h.active, "events": h.events, "config": config,
		"updated_at": stamp(h.updated), "created_at": stamp(h.created), "url": self, "test_url": self + "/test",
		"ping_url": self + "/pings", "deliveries_url": self + "/deliveries", "last_response": last,
	}
}

func renderDelivery(d *delivery) object {
	return object{
		"id": d.id, "guid": d.guid, "delivered_at": d.at.Format(time.RFC3339), "redelivery": d.redelivery,
		"duration": d.took.Seconds(), "status": d.status, "status_code": d.code, "event": d.event,
		"action": orNull(d.action), "installation_id": nil, "repository_id": d.repo, "throttled_at": nil,
	}
}
