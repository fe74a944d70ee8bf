package recovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v66/github"

	"touchstone/relay/event"
	"touchstone/relay/source"
	"touchstone/worktree/pause"
)

const (
	// chunkSize is how many redeliveries are requested before the relay waits for them.
	chunkSize = 50
	// arrivalCheck is the time between two checks for redeliveries.
	arrivalCheck = 100 * time.Millisecond
)

// pass is the comparison of one hook's deliveries with the log.
type pass struct {
	*Recovery
	hook   hook
	report HookReport
	// open is the time of the oldest delivery that is not in the log; zero for none.
	open time.Time
	// sought is the id of the one delivery that the list is read for; empty for all.
	sought string
	// fetchOnly is set once GitHub's redeliveries turn out not to reach this relay.
	fetchOnly bool
}

// run brings in what is missing and notes the time up to which nothing is. The note only saves work: after an
// interrupted pass, the next one compares again, and what was brought in is in the log.
func (p *pass) run(ctx context.Context) error {
	through, err := p.through(ctx)
	if err != nil {
		return err
	}
	deliveries, listed, err := p.list(ctx, through)
	if err != nil {
		return p.hook.target.explain(err)
	}
	missing, err := p.missing(ctx, deliveries)
	if err != nil {
		return err
	}
	p.report.Compared, p.report.Missing = len(deliveries), len(missing)
	for chunk := range slices.Chunk(missing, chunkSize) {
		left, err := p.bringIn(ctx, chunk)
		if err != nil {
			p.report.Left = len(missing) - p.report.Redelivered - p.report.Fetched
			return err
		}
		p.report.Left += len(left)
		p.hold(left...)
	}
	return p.setThrough(ctx, listed)
}

func (p *pass) noteName() string { return "recovery " + p.hook.path }

// through reads the note: nothing up to that time is missing. It is zero if there is no note.
func (p *pass) through(ctx context.Context) (time.Time, error) {
	note, err := p.config.Log.Note(ctx, p.noteName())
	if err != nil || note == "" {
		return time.Time{}, err
	}
	through, err := time.Parse(time.RFC3339, note)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the progress of the recovery: %w", err)
	}
	return through, nil
}

// setThrough writes the note. The time never passes a delivery that is still missing.
func (p *pass) setThrough(ctx context.Context, at time.Time) error {
	if !p.open.IsZero() && p.open.Before(at) {
		at = p.open
	}
	return p.config.Log.SetNote(ctx, p.noteName(), at.UTC().Format(time.RFC3339))
}

// hold notes that deliveries are not in the log.
func (p *pass) hold(deliveries ...delivery) {
	for _, d := range deliveries {
		if p.open.IsZero() || d.at.Before(p.open) {
			p.open = d.at
		}
	}
}

// bringIn gets deliveries into the log, signed if GitHub can redeliver them, otherwise fetched. It returns
// the deliveries for which both failed.
func (p *pass) bringIn(ctx context.Context, missing []delivery) ([]delivery, error) {
	if !p.fetchOnly {
		var err error
		if missing, err = p.redeliver(ctx, missing); err != nil {
			return nil, err
		}
	}
	var left []delivery
	for _, d := range missing {
		err := p.fetch(ctx, d)
		switch {
		case err == nil:
			p.report.Fetched++
		case errors.As(err, new(*github.ErrorResponse)) || errors.Is(err, errContent):
			p.report.Problem = fmt.Sprintf("delivery %s: %v", d.guid, err)
			left = append(left, d)
		default:
			return nil, fmt.Errorf("fetch delivery %s: %w", d.guid, err)
		}
	}
	return left, nil
}

// redeliver requests redeliveries from GitHub and returns the deliveries that did not arrive in time.
func (p *pass) redeliver(ctx context.Context, missing []delivery) ([]delivery, error) {
	asked := 0
	for _, d := range missing {
		path := fmt.Sprintf("%s/deliveries/%d/attempts", p.hook.path, d.id)
		_, err := p.github.call(ctx, p.hook.target, http.MethodPost, path, nil, nil)
		switch {
		case err == nil:
			asked++
		case refused(err, http.StatusForbidden):
			p.fetchOnly = true
			p.report.Problem = p.hook.target.explain(err).Error()
		case !errors.As(err, new(*github.ErrorResponse)):
			return nil, fmt.Errorf("redeliver %s: %w", d.guid, err)
		}
		if p.fetchOnly {
			break
		}
		if !pause.For(ctx, p.config.Pace) {
			return nil, context.Cause(ctx)
		}
	}
	left, err := p.await(ctx, missing, asked)
	if err != nil {
		return nil, err // nobody knows how many arrived
	}
	p.report.Redelivered += len(missing) - len(left)
	if asked > 0 && len(left) == len(missing) {
		p.fetchOnly = true
		p.report.Problem = "GitHub's redeliveries do not arrive, so the relay fetches them unsigned; make the webhook's address " +
			"this relay's, and its secret the same as the relay's"
	}
	return left, nil
}

// await waits until as many of the deliveries as were asked for are in the log, or until Config.Arrival has
// passed, and returns the others.
func (p *pass) await(ctx context.Context, missing []delivery, asked int) ([]delivery, error) {
	for deadline := time.Now().Add(p.config.Arrival); ; {
		left, err := p.missing(ctx, missing)
		if err != nil || len(missing)-len(left) >= asked || time.Now().After(deadline) {
			return left, err
		}
		if !pause.For(ctx, arrivalCheck) {
			return nil, context.Cause(ctx)
		}
	}
}

// errContent is returned for deliveries that GitHub lists without their content.
var errContent = errors.New("GitHub's copy is not a webhook")

// fetch takes a delivery from GitHub's list. The API has parsed the payload and encodes it anew, so the
// signature no longer matches and is left out: the connection to GitHub vouches for the event.
func (p *pass) fetch(ctx context.Context, d delivery) error {
	var full github.HookDelivery
	path := fmt.Sprintf("%s/deliveries/%d", p.hook.path, d.id)
	if _, err := p.github.call(ctx, p.hook.target, http.MethodGet, path, nil, &full); err != nil {
		return err
	}
	if full.Request == nil || full.Request.RawPayload == nil {
		return errContent
	}
	header := http.Header{}
	for name, value := range full.Request.Headers {
		if !strings.HasPrefix(http.CanonicalHeaderKey(name), "X-Hub-Signature") {
			header.Set(name, value)
		}
	}
	header.Set("X-GitHub-Event", full.GetEvent())
	header.Set("X-GitHub-Delivery", d.guid)
	header.Set("Content-Type", "application/json")
	e, err := source.GitHub{}.Accept(p.hook.source, header, *full.Request.RawPayload, time.Now())
	if err != nil {
		return fmt.Errorf("%w: %w", errContent, err)
	}
	e.Headers[event.RecoveredHeader] = "unsigned"
	_, _, err = p.config.Log.Append(ctx, e)
	return err
}
