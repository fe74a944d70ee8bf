// Package recovery brings in what the relay missed while it was away. GitHub sends a
// webhook once and does not try again, but it lists each hook's deliveries for three
// days (https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/viewing-webhook-deliveries).
// The package owns the comparison of that list with the log, and the installing of the
// hook that all of it is about; it is the relay's only way to GitHub's API. What it
// brings in belongs to the log, and how far it came is a note kept beside the log.
package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
)

// Every is the time between two passes, and RetryEvery the time after one that failed.
const (
	Every      = 10 * time.Minute
	RetryEvery = time.Minute
)

// endTimeout bounds what a relay that stops does to let another one go on.
const endTimeout = 2 * time.Second

// Log is the relay's log as recovery needs it.
type Log interface {
	// Stored returns those of a source's deliveries that the log holds.
	Stored(ctx context.Context, source string, deliveries []string) (map[string]bool, error)
	// Append stores an event and reports whether it was there before.
	Append(ctx context.Context, e event.Event) (event.Cursor, bool, error)
	// Note and SetNote keep how far each hook was compared.
	Note(ctx context.Context, name string) (string, error)
	SetNote(ctx context.Context, name, text string) error
}

// Config says which hooks to look after, and how.
type Config struct {
	// GitHub is the account that may read the hooks' deliveries.
	GitHub GitHub
	// Targets own the hooks.
	Targets []Target
	// Sources are the names of the relay's endpoints for GitHub's webhooks. A hook is
	// this relay's when its address ends in /webhooks/ and one of them.
	Sources []string
	// PublicURL, if given, is what the addresses of this relay's hooks begin with. It
	// tells them from those of another relay on the same repository.
	PublicURL string
	// Log is where events belong.
	Log Log
	// Retention is how long the log keeps events; zero for ever. What is older is not
	// missed.
	Retention time.Duration
	// Pace is the time between two redeliveries; zero means the second that GitHub asks for
	// (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests).
	Pace time.Duration
	// Arrival is how long a redelivery may take to arrive; zero means 30 s.
	Arrival time.Duration
	// Lease is for relays that share a log, of which one at a time compares: how long the
	// others wait for a sign of life before one of them takes over. Zero is for a log that
	// no other relay has open.
	Lease time.Duration
}

// Recovery looks after the hooks of one relay.
type Recovery struct {
	config Config
	github client
	turn   chan struct{} // held by the one pass that runs here
}

// Validate reports what is missing or wrong in what an operator has to say; Log is not
// part of that.
func (c Config) Validate() error {
	if public, err := url.Parse(c.PublicURL); c.PublicURL != "" && (err != nil || public.Host == "") {
		return fmt.Errorf("%q is no address of a relay; write one such as https://relay.example.com", c.PublicURL)
	}
	_, err := c.GitHub.client(c.Targets...)
	return err
}

// New builds the recovery. It asks GitHub nothing yet.
func New(config Config) (*Recovery, error) {
	config.Pace = cmp.Or(config.Pace, time.Second)
	config.Arrival = cmp.Or(config.Arrival, 30*time.Second)
	github, err := config.GitHub.client(config.Targets...)
	if err != nil {
		return nil, err
	}
	return &Recovery{config: config, github: github, turn: make(chan struct{}, 1)}, nil
}

// Report is what one pass found and did.
type Report struct {
	// Hooks has one entry for each hook, and one for each target whose hooks could not
	// be found.
	Hooks []HookReport `json:"hooks"`
}

// HookReport is what one pass found and did about one hook.
type HookReport struct {
	// Hook names it for people, such as "repository acme/app, hook 17".
	Hook string `json:"hook"`
	// Target is whose hook it is, such as "repository acme/app".
	Target string `json:"target"`
	// Since is how far back GitHub's list was compared.
	Since time.Time `json:"since,omitzero"`
	// OutOfReach is where the relay's knowledge ended when that is longer ago than GitHub or
	// the log keeps deliveries: what happened between it and Since can never be recovered.
	OutOfReach time.Time `json:"out_of_reach,omitzero"`
	// Compared counts the deliveries that were looked up, Missing those the log had not.
	Compared int `json:"compared"`
	Missing  int `json:"missing"`
	// Redelivered counts those that GitHub sent again with their signature, Fetched those
	// that were taken from GitHub's list and stored as recovered and unsigned.
	Redelivered int `json:"redelivered"`
	Fetched     int `json:"fetched"`
	// Left counts those still missing. The next pass tries them again.
	Left int `json:"left"`
	// Problem is a sentence about what went wrong; empty for nothing.
	Problem string `json:"problem,omitempty"`
}

// Run makes a pass now and then every ten minutes, sooner after one that failed, and
// hands each report to done, until ctx ends.
func (r *Recovery) Run(ctx context.Context, done func(Report)) error {
	for {
		report, err := r.Pass(ctx)
		if ctx.Err() != nil {
			return nil
		}
		wait := Every
		if err != nil {
			wait = RetryEvery
		}
		report.log(ctx)
		done(report)
		if err := sleep(ctx, wait); err != nil {
			return nil
		}
	}
}

// Pass compares each hook's deliveries with the log and brings in what is missing. Passes
// take turns, those of other relays on the same log among them. The error is about the
// hooks that could not be dealt with whole; the report is good beside it.
func (r *Recovery) Pass(ctx context.Context) (Report, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return Report{}, context.Cause(ctx)
	}
	if r.config.Lease == 0 {
		return r.compare(ctx)
	}
	t := turn{notes: r.config.Log, lease: r.config.Lease}
	if err := t.take(ctx); err != nil {
		return r.failed(err), err
	}
	turnCtx, lost := context.WithCancelCause(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { lost(t.keep(turnCtx)) })
	report, err := r.compare(turnCtx)
	lost(nil)
	keeping.Wait()
	endCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	return report, errors.Join(err, t.end(endCtx))
}

// failed is the report of a pass that could not begin.
func (r *Recovery) failed(err error) Report {
	var report Report
	for _, target := range r.config.Targets {
		report.Hooks = append(report.Hooks, HookReport{Hook: target.String(), Target: target.String(), Problem: err.Error()})
	}
	return report
}

// compare is a pass whose turn it is.
func (r *Recovery) compare(ctx context.Context) (Report, error) {
	var report Report
	var errs []error
	for _, target := range r.config.Targets {
		hooks, err := r.hooks(ctx, target)
		if err != nil {
			report.Hooks = append(report.Hooks, HookReport{Hook: target.String(), Target: target.String(), Problem: err.Error()})
			errs = append(errs, err)
		}
		for _, h := range hooks {
			pass := pass{Recovery: r, hook: h, report: HookReport{Hook: h.String(), Target: target.String()}}
			if err := pass.run(ctx); err != nil {
				if ctx.Err() != nil {
					err = context.Cause(ctx) // what was under way can only say that it was cut off
				}
				pass.report.Problem = err.Error()
				errs = append(errs, fmt.Errorf("%s: %w", h, err))
			}
			report.Hooks = append(report.Hooks, pass.report)
		}
	}
	return report, errors.Join(errs...)
}

func (r Report) log(ctx context.Context) {
	log := zerolog.Ctx(ctx)
	for _, h := range r.Hooks {
		line := log.Info()
		if h.Problem != "" || h.Left > 0 || !h.OutOfReach.IsZero() {
			line = log.Warn()
		}
		if !h.OutOfReach.IsZero() {
			line = line.Time("out_of_reach_since", h.OutOfReach)
		}
		if h.Problem != "" {
			line = line.Str("problem", h.Problem)
		}
		line.Str("hook", h.Hook).Time("since", h.Since).Int("compared", h.Compared).Int("missing", h.Missing).
			Int("redelivered", h.Redelivered).Int("fetched", h.Fetched).Int("left", h.Left).Msg("deliveries compared with GitHub")
	}
}

// sleep waits, or returns why ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
