package reviewer_test

import (
	"context"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// idle is a model that opens no patch by itself. What it could say of its tools, it says
// to tell.
type idle struct {
	loopback.Model
	tell *engine.Request
}

func (i idle) Open(ctx context.Context, request engine.Request) (engine.Session, error) {
	*i.tell = request
	request.Progress = nil
	return i.Model.Open(ctx, request)
}

// TestWhatWasNotOpenedWasNotExamined: a session that lists files whose patches it never
// opened is asked for them once. A model that goes on without them approves nothing.
func TestWhatWasNotOpenedWasNotExamined(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opens    bool // when asked again
		want     verdict.Verdict
		examined int
	}{
		"opened when asked for": {true, verdict.Approve, 1},
		"never opened":          {false, verdict.RequestChanges, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ref := opened(t, plain, map[string]string{"code.txt": "safe()\n"})
			var told engine.Request
			first, asked := "", 0
			r := newReviewer(t, g, nil)
			r.Engine = idle{func(r loopback.Asked) (string, error) {
				asked++
				if asked == 1 {
					first = r.Prompt
				} else if test.opens {
					reading.Patches(told, first)
				}
				text, err := answering()(loopback.Asked{Request: r.Request, Prompt: first + r.Prompt})
				return text, err
			}, &told}
			out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
			if err != nil || out.Record.Verdict != test.want || out.Record.Coverage.Examined != test.examined || asked != 2 {
				t.Errorf("%s, %d files examined, asked %d times, %v", out.Record.Verdict, out.Record.Coverage.Examined, asked, err)
			}
			if said := strings.Contains(out.Review.Body, "never opened"); said == test.opens {
				t.Errorf("the review says of a patch that was never opened: %v", said)
			}
		})
	}
}

// TestWhatOnlyAnEarlierTurnOpened: a session that begins anew with each turn knows of an earlier one only what it answered.
// A turn that opened all patches and answered nothing does not count for the next one.
func TestWhatOnlyAnEarlierTurnOpened(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		anew, answers bool // the first turn's answer lists the file, and lacks only an end
		want          verdict.Verdict
	}{
		"it remembers":             {false, false, verdict.Approve},
		"it begins anew":           {true, false, verdict.RequestChanges},
		"it answered, begins anew": {true, true, verdict.Approve},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, ref := opened(t, plain, map[string]string{"code.txt": "safe()\n"})
			var told engine.Request
			first, asked := "", 0
			r := newReviewer(t, g, nil)
			r.Engine = idle{func(r loopback.Asked) (string, error) {
				if asked++; asked > 1 {
					if test.anew {
						told.Progress(engine.Progress{Kind: engine.ProgressAnew})
					}
					return answering()(loopback.Asked{Request: r.Request, Prompt: first + r.Prompt})
				}
				first = r.Prompt
				reading.Patches(told, first)
				if !test.answers {
					return "I have read everything and begin.", nil
				}
				a := reading.Review(first, "It is fine.")
				a.Dimensions = a.Dimensions[1:]
				return reading.Answer(first, a, verdict.Approve), nil
			}, &told}
			out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
			if err != nil || out.Record.Verdict != test.want || asked != 2 {
				t.Errorf("%s, asked %d times, %v", out.Record.Verdict, asked, err)
			}
		})
	}
}
