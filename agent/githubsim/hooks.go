package githubsim

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"touchstone/worktree/pause"
	"touchstone/worktree/steps"
)

// deliveryTimeout is how long GitHub waits for a webhook's response.
// https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks
const deliveryTimeout = 10 * time.Second

// hookSet holds the webhooks of a repository, an organization or an app.
type hookSet struct {
	kind   string // the "type" of its hooks
	target string // the owner's kind in the header of a delivery
	id     int64  // of the owner
	path   string // in the API
	hooks  []*hook
}

// organization returns the hooks of an owner of repositories that is not an account.
func (s *Sim) organization(login string) *hookSet {
	key := strings.ToLower(login)
	if s.orgs[key] == nil {
		s.orgs[key] = &hookSet{kind: "Organization", target: "organization", id: s.id(), path: "/orgs/" + login + "/hooks"}
	}
	return s.orgs[key]
}

// listeners returns the hooks that receive a repository's events.
func (s *Sim) listeners(r *repo) []*hook {
	all := slices.Clone(r.hooks.hooks)
	if s.findAccount(r.Owner) == nil {
		all = append(all, s.organization(r.Owner).hooks...)
	}
	for _, a := range s.accounts {
		if a.hooks != nil && r.permission(a) != "none" {
			all = append(all, a.hooks.hooks...)
		}
	}
	return all
}

type hook struct {
	of               *hookSet
	id               int64
	active           bool
	events           []string
	url, contentType string
	secret           string
	created, updated time.Time
	deliveries       []*delivery // the oldest first
	held             []*delivery // to be shuffled
}

type delivery struct {
	hook           *hook
	id             int64
	guid           string
	event, action  string
	payload        []byte
	redelivery     bool
	repo           int64 // 0 for a ping of an organization or an app
	installation   int64 // 0 unless the hook is an app's
	at, due        time.Time
	took           time.Duration
	code           int
	status         string
	sent, answered http.Header
	answer         string
}

// wants reports whether a hook is active and subscribes to an event.
func (h *hook) wants(event string) bool {
	return h.active && (slices.Contains(h.events, event) || slices.Contains(h.events, "*"))
}

// emit sends an event to every hook that subscribes to it. The caller holds the lock; the payload is rendered
// now, and sent later.
func (s *Sim) emit(r *repo, by *account, event, action string, payload object) {
	for _, h := range s.listeners(r) {
		if !h.wants(event) {
			continue
		}
		d := &delivery{hook: h, event: event, action: action, repo: r.id}
		if action != "" {
			payload["action"] = action
		}
		payload["repository"], payload["sender"] = s.renderRepo(r), s.renderUser(by)
		delete(payload, "installation")
		if h.of.target == "integration" {
			d.installation = h.of.id
			payload["installation"] = object{"id": d.installation, "node_id": nodeID("MDIz", d.installation)}
		}
		if s.findAccount(r.Owner) == nil {
			payload["organization"] = s.renderOrganization(r.Owner)
		}
		s.queueNew(d, payload)
	}
}

// queueNew queues the first delivery of a payload, which consists of maps, texts and numbers.
func (s *Sim) queueNew(d *delivery, payload object) {
	d.guid, d.payload = uuid.NewString(), steps.Got(json.Marshal(payload))
	s.queue(d)
}

func (s *Sim) renderOrganization(login string) object {
	self := s.api("/orgs/%s", login)
	return object{
		"login": login, "id": s.organization(login).id, "node_id": nodeID("O", s.organization(login).id), "description": nil, "url": self,
		"repos_url": self + "/repos", "events_url": self + "/events", "hooks_url": self + "/hooks", "issues_url": self + "/issues",
		"members_url": self + "/members{/member}", "public_members_url": self + "/public_members{/member}",
		"avatar_url": s.url + "/avatars/" + login,
	}
}

// queue records a delivery, and sends it as the faults allow.
func (s *Sim) queue(d *delivery) {
	h := d.hook
	d.id, d.at, d.status = s.id(), s.Now(), "pending"
	d.due = time.Now().Add(time.Duration(s.faults.DeliveryDelayMS) * time.Millisecond)
	h.deliveries = append(h.deliveries, d)
	if !d.redelivery && spendFault(&s.faults.LoseDeliveries) {
		d.code, d.status = http.StatusBadGateway, "failed to connect to host"
		return
	}
	if n := s.faults.ShuffleDeliveries; n > 0 {
		if h.held = append(h.held, d); len(h.held) >= n {
			s.release(h)
		}
		return
	}
	s.send(d)
}

func (s *Sim) release(h *hook) {
	held := h.held
	h.held = nil
	for _, d := range slices.Backward(held) {
		s.send(d)
	}
}

func (s *Sim) releaseHeld() {
	var all []*hook
	for _, r := range s.repos {
		all = append(all, s.listeners(r)...)
	}
	for _, h := range all {
		s.release(h)
	}
}

func (s *Sim) send(d *delivery) {
	times := 1
	if spendFault(&s.faults.DuplicateDeliveries) {
		times = 2
	}
	for range times {
		s.lanes.do(fmt.Sprintf("hook %d", d.hook.id), func(ctx context.Context) { s.deliver(ctx, d) })
	}
}

func (s *Sim) deliver(ctx context.Context, d *delivery) {
	if !pause.For(ctx, time.Until(d.due)) {
		return
	}
	s.mu.Lock()
	req, err := newDeliveryRequest(ctx, d)
	s.mu.Unlock()
	start := time.Now()
	var resp *http.Response
	var answer []byte
	if err == nil {
		if resp, err = s.client.Do(req); err == nil {
			answer, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
			resp.Body.Close()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d.took = time.Since(start)
	if req != nil {
		d.sent = req.Header
	}
	if err != nil {
		d.code, d.status = http.StatusBadGateway, "failed to connect to host"
		return
	}
	d.code, d.status, d.answer, d.answered = resp.StatusCode, "OK", string(answer), resp.Header
	if resp.StatusCode/100 != 2 {
		d.status = fmt.Sprintf("Invalid HTTP Response: %d", resp.StatusCode)
	}
}

func newDeliveryRequest(ctx context.Context, d *delivery) (*http.Request, error) {
	h := d.hook
	body, kind := d.payload, "application/json"
	if h.contentType == "form" {
		body, kind = []byte("payload="+url.QueryEscape(string(d.payload))), "application/x-www-form-urlencoded"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "GitHub-Hookshot/githubsim")
	req.Header.Set("X-GitHub-Event", d.event)
	req.Header.Set("X-GitHub-Delivery", d.guid)
	req.Header.Set("X-GitHub-Hook-ID", fmt.Sprint(h.id))
	req.Header.Set("X-GitHub-Hook-Installation-Target-ID", fmt.Sprint(h.of.id))
	req.Header.Set("X-GitHub-Hook-Installation-Target-Type", h.of.target)
	if h.secret != "" {
		mac := hmac.New(sha256.New, []byte(h.secret))
		mac.Write(body)
		req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return req, nil
}

// plainHeaders renders headers like GitHub, as one text each.
func plainHeaders(h http.Header) object {
	out := object{}
	for name, values := range h {
		out[name] = strings.Join(values, ", ")
	}
	return out
}
