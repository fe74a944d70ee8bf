// Package recovery brings in the webhooks that the relay missed while it was down. GitHub sends a webhook
// once and does not retry, but it lists each hook's deliveries for three days
// (https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/viewing-webhook-deliveries). The
// package owns the comparison of that list with the log, and the installation of the hook; it is the relay's
// only access to GitHub's API. What it brings in belongs to the log, and its progress is a note kept beside
// the log.
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
	"touchstone/worktree/pause"
)

// Every is the time between two passes, and RetryEvery the time after a pass that failed.
const (
	Every      = 10 * time.Minute
	RetryEvery = time.Minute
)

// releaseTimeout bounds how long a relay that stops takes to release its lease.
const releaseTimeout = 2 * time.Second

// Log is the part of the relay's log that recovery needs.
type Log interface {
	// Stored returns which of a source's deliveries the log holds.
	Stored(ctx context.Context, source string, deliveries []string) (map[string]bool, error)
	// Append stores an event and reports whether it was stored already.
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
	// Sources are the names of the relay's endpoints for GitHub's webhooks. A hook belongs to this relay if
	// its address ends in /webhooks/ and one of them.
	Sources []string
	// PublicURL, if set, is how the addresses of this relay's hooks begin, unlike those of another relay's
	// hooks on the same repository.
	PublicURL string
	// Log is where events are stored.
	Log Log
	// Retention is how long the log keeps events; zero means for ever. Older deliveries do not count as
	// missing.
	Retention time.Duration
	// Pace is the time between two redeliveries; zero means the one second that GitHub asks for
	// (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests).
	Pace time.Duration
	// Arrival is how long a redelivery may take to arrive; zero means 30 s.
	Arrival time.Duration
	// Lease is for relays that share a log and compare one at a time: it is how long the others wait for a
	// sign of life before one of them takes over. Zero is for a log that no other relay has open.
	Lease time.Duration
}

// Recovery looks after the hooks of one relay.
type Recovery struct {
	config Config
	github client
	slot   chan struct{} // held by the one pass that runs here
}

// Validate reports what is missing or wrong in the fields that an operator sets, which excludes Log.
func (c Config) Validate() error {
	if public, err := url.Parse(c.PublicURL); c.PublicURL != "" && (err != nil || public.Host == "") {
		return fmt.Errorf("%q is not the address of a relay; write one such as https://relay.example.com", c.PublicURL)
	}
	_, err := c.GitHub.client(c.Targets...)
	return err
}

// New creates the recovery. It sends GitHub no request yet.
func New(config Config) (*Recovery, error) {
	config.Pace = cmp.Or(config.Pace, time.Second)
	config.Arrival = cmp.Or(config.Arrival, 30*time.Second)
	github, err := config.GitHub.client(config.Targets...)
	if err != nil {
		return nil, err
	}
	return &Recovery{config: config, github: github, slot: make(chan struct{}, 1)}, nil
}

// Report is what one pass found and did.
type Report struct {
	// Hooks has one entry for each hook, and one for each target whose hooks could not be listed.
	Hooks []HookReport `json:"hooks"`
}

// HookReport is what one pass found and did for one hook.
type HookReport struct {
	// Hook names the hook for people, such as "repository acme/app, hook 17".
	Hook string `json:"hook"`
	// Target is the hook's owner, such as "repository acme/app".
	Target string `json:"target"`
	// Since is how far back GitHub's list was compared.
	Since time.Time `json:"since,omitzero"`
	// OutOfReach is the time up to which nothing was missing, if GitHub or the log does not keep deliveries
	// that long: deliveries between OutOfReach and Since can never be recovered.
	OutOfReach time.Time `json:"out_of_reach,omitzero"`
	// Compared counts the deliveries that were looked up, Missing those that the log did not hold.
	Compared int `json:"compared"`
	Missing  int `json:"missing"`
	// Redelivered counts deliveries that GitHub sent again, signed; Fetched counts those taken from GitHub's
	// list and stored as recovered and unsigned.
	Redelivered int `json:"redelivered"`
	Fetched     int `json:"fetched"`
	// Left counts the deliveries that are still missing. The next pass tries them again.
	Left int `json:"left"`
	// Problem is a sentence about what went wrong; empty for nothing.
	Problem string `json:"problem,omitempty"`
}

// Run makes a pass now and then every ten minutes, sooner after a failed pass, until ctx ends. It passes each
// report to done.
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
		if !pause.For(ctx, wait) {
			return nil
		}
	}
}

// Pass compares each hook's deliveries with the log and brings in what is missing. Only one pass runs at a
// time, also among relays on one log. The error is about hooks that were not processed completely; the report
// is valid even then.
func (r *Recovery) Pass(ctx context.Context) (Report, error) {
	select {
	case r.slot <- struct{}{}:
		defer func() { <-r.slot }()
	case <-ctx.Done():
		return Report{}, context.Cause(ctx)
	}
	if r.config.Lease == 0 {
		return r.compare(ctx)
	}
	l := lease{notes: r.config.Log, length: r.config.Lease}
	if err := l.take(ctx); err != nil {
		return r.failed(err), err
	}
	leaseCtx, lost := context.WithCancelCause(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { lost(l.keep(leaseCtx)) })
	report, err := r.compare(leaseCtx)
	lost(nil)
	keeping.Wait()
	releaseCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	return report, errors.Join(err, l.release(releaseCtx))
}

// failed returns the report of a pass that could not begin.
func (r *Recovery) failed(err error) Report {
	var report Report
	for _, target := range r.config.Targets {
		report.Hooks = append(report.Hooks, HookReport{Hook: target.String(), Target: target.String(), Problem: err.Error()})
	}
	return report
}

// compare makes a pass; this relay holds the lease, if there is one.
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
					err = context.Cause(ctx) // the error only says that the context was cancelled
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
