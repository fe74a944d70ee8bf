package githubsim

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
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
)

// deliveryTimeout is how long GitHub waits for a webhook's answer.
// https://docs.github.com/en/webhooks/using-webhooks/best-practices-for-using-webhooks
const deliveryTimeout = 10 * time.Second

type hook struct {
	id               int64
	active           bool
	events           []string
	url, contentType string
	secret           string
	created, updated time.Time
	deliveries       []*delivery // the oldest first
}

type delivery struct {
	id             int64
	guid           string
	event, action  string
	payload        []byte
	redelivery     bool
	repo           int64
	at, due        time.Time
	took           time.Duration
	code           int
	status         string
	sent, answered http.Header
	answer         string
}

// hears tells whether a hook asked for an event.
func (h *hook) hears(event string) bool {
	return h.active && (slices.Contains(h.events, event) || slices.Contains(h.events, "*"))
}

// emit sends an event to every hook that asked for it. Locked by the caller;
// the payload is rendered now, and sent later.
func (s *Sim) emit(r *repo, by *account, event, action string, payload object) {
	var body []byte
	for _, h := range r.hooks {
		if !h.hears(event) {
			continue
		}
		if body == nil {
			if action != "" {
				payload["action"] = action
			}
			payload["repository"], payload["sender"] = s.renderRepo(r), s.renderUser(by)
			var err error
			if body, err = json.Marshal(payload); err != nil {
				panic(err) // payloads are made of maps, texts and numbers
			}
		}
		s.queue(h, &delivery{guid: newGUID(), event: event, action: action, payload: body, repo: r.id})
	}
}

// queue records a delivery and sends it as the faults allow.
func (s *Sim) queue(h *hook, d *delivery) {
	d.id, d.at, d.status = s.id(), now(), "pending"
	d.due = time.Now().Add(time.Duration(s.faults.DeliveryDelayMS) * time.Millisecond)
	h.deliveries = append(h.deliveries, d)
	if !d.redelivery && spendFault(&s.faults.LoseDeliveries) {
		d.code, d.status = http.StatusBadGateway, "failed to connect to host"
		return
	}
	if n := s.faults.ShuffleDeliveries; n > 0 {
		if s.held[h.id] = append(s.held[h.id], d); len(s.held[h.id]) >= n {
			s.release(h)
		}
		return
	}
	s.send(h, d)
}

func (s *Sim) release(h *hook) {
	held := s.held[h.id]
	delete(s.held, h.id)
	for _, d := range slices.Backward(held) {
		s.send(h, d)
	}
}

func (s *Sim) releaseHeld() {
	for _, r := range s.repos {
		for _, h := range r.hooks {
			s.release(h)
		}
	}
}

func (s *Sim) send(h *hook, d *delivery) {
	times := 1
	if spendFault(&s.faults.DuplicateDeliveries) {
		times = 2
	}
	for range times {
		s.lanes.do(fmt.Sprintf("hook %d", h.id), func(ctx context.Context) { s.deliver(ctx, h, d) })
	}
}

func (s *Sim) deliver(ctx context.Context, h *hook, d *delivery) {
	select {
	case <-time.After(time.Until(d.due)):
	case <-ctx.Done():
		return
	}
	s.mu.Lock()
	req, err := newDeliveryRequest(ctx, h, d)
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
	switch {
	case err != nil:
		d.code, d.status = http.StatusBadGateway, "failed to connect to host"
	default:
		d.code, d.status, d.answer, d.answered = resp.StatusCode, "OK", string(answer), resp.Header
		if resp.StatusCode/100 != 2 {
			d.status = fmt.Sprintf("Invalid HTTP Response: %d", resp.StatusCode)
		}
	}
}

func newDeliveryRequest(ctx context.Context, h *hook, d *delivery) (*http.Request, error) {
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
	req.Header.Set("X-GitHub-Hook-Installation-Target-ID", fmt.Sprint(d.repo))
	req.Header.Set("X-GitHub-Hook-Installation-Target-Type", "repository")
	if h.secret != "" {
		mac := hmac.New(sha256.New, []byte(h.secret))
		mac.Write(body)
		req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return req, nil
}

// newGUID makes the id of a delivery, a version 4 UUID.
func newGUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// plainHeaders renders headers as GitHub does, one text each.
func plainHeaders(h http.Header) object {
	out := object{}
	for name, values := range h {
		out[name] = strings.Join(values, ", ")
	}
	return out
}
