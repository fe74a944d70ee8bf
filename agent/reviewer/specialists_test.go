package reviewer_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
)

// TestSpecialistsFindAndOneJudges has three sessions examine a part each. The last session answers each of
// their findings, and only its verdict counts.
func TestSpecialistsFindAndOneJudges(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{"README.md": "one\n", config.RepositoryPath: "review:\n  strategy: specialists\n"},
		map[string]string{"code.txt": "unsafe_first()\nunsafe_second()\n"})
	var mu sync.Mutex
	var walked []string
	first, second := at(1, "unsafe_first()"), at(2, "unsafe_second()")
	outside := at(2, "unsafe_second()")
	outside.Dimension, outside.Rule = verdict.Graph, "graph/G3"
	judge := ""
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		_, mine, special := strings.Cut(r.Prompt, "Walk these alone: ")
		if !special {
			judge = r.Prompt
			confirmed := first
			confirmed.Evidence = []string{"E1"}
			answer, err := answering(confirmed)(r)
			return strings.Replace(answer, `"findings":`, `"refuted":[{"evidence":"E2","reason":"Nothing reaches it."}],"findings":`, 1), err
		}
		mine, _, _ = strings.Cut(mine, ".")
		walked = append(walked, mine)
		if strings.Contains(mine, "Security") {
			return answering(first, second, outside)(r)
		}
		return answering()(r)
	})
	var log bytes.Buffer
	out, err := r.Review(zerolog.New(&log).WithContext(t.Context()), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true})
	if err != nil || strings.Contains(log.String(), "specialist") {
		t.Fatal(err, log.String())
	}
	slices.Sort(walked)
	if want := []string{"Graph, Architecture, Impact", "Security, Observability",
		"Test, Doc, AI-Antipattern, Recurrence"}; !slices.Equal(walked, want) {
		t.Errorf("the specialists walked %q", walked)
	}
	for _, want := range []string{"- E1 candidate at code.txt:1: [Security] critical security/S3: Wrong: unsafe_first()",
		"- E2 candidate at code.txt:2", "finding of another session"} {
		if !strings.Contains(judge, want) {
			t.Errorf("the judge is not told %q", want)
		}
	}
	if strings.Contains(judge, "E3 ") {
		t.Error("a specialist's finding under another's dimension is a candidate")
	}
	if l := out.Record.Ledger; len(l) != 1 || l[0].Line != 1 || out.Record.Verdict != verdict.RequestChanges || len(out.Record.Evidence) != 2 {
		t.Errorf("%s, %+v, %+v", out.Record.Verdict, l, out.Record.Evidence)
	}
	// The finding under another's dimension is not lost either.
	if n := out.Record.NotListed; len(n) != 1 || n[0].Rule != "graph/G3" || !strings.Contains(n[0].Reason, "another session's") ||
		!strings.Contains(out.Review.Body, "another session's") || !out.Record.Settled {
		t.Errorf("settled %t, not listed %+v:\n%s", out.Record.Settled, n, out.Review.Body)
	}
	if !strings.Contains(out.Review.Body, "refuted: Nothing reaches it.") {
		t.Errorf("what became of a candidate is not said:\n%s", out.Review.Body)
	}
}

// TestACandidateWithoutAnAnswerKeepsTheReviewFromApproving.
func TestACandidateWithoutAnAnswerKeepsTheReviewFromApproving(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{"README.md": "one\n", config.RepositoryPath: "review:\n  strategy: specialists\n"},
		map[string]string{"code.txt": "unsafe_first()\n"})
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		if strings.Contains(r.Prompt, "Walk these alone: Security") {
			return answering(at(1, "unsafe_first()"))(r)
		}
		return answering()(r)
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true})
	if err != nil || out.Record.Verdict != verdict.RequestChanges || !strings.Contains(out.Review.Body, "unreviewed") {
		t.Errorf("%v, %s:\n%s", err, out.Record.Verdict, out.Review.Body)
	}
}

// What a specialist names and does not list, or in an answer that cannot be read, is put to the session that judges.
func TestWhatASpecialistOnlyTellsIsNotLost(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{"README.md": "one\n", config.RepositoryPath: "review:\n  strategy: specialists\n"},
		map[string]string{"code.txt": "unsafe_first()\n"})
	judge := ""
	r := newReviewer(t, g, func(r loopback.Asked) (string, error) {
		switch {
		case strings.Contains(r.Prompt, "Walk these alone: Security"):
			return "A critical defect under security/S3 at code.txt:1.\n```touchstone\n{broken\n```\n", nil
		case strings.Contains(r.Prompt, "Walk these alone: Test"):
			text, err := answering()(r)
			return "A major defect under doc/D1 in code.txt, which we leave.\n" + text, err
		case judge == "" && !strings.Contains(r.Prompt, "Walk these alone: "):
			judge = r.Prompt
		}
		return answering()(r)
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true})
	if err != nil || out.Record.Verdict != verdict.RequestChanges || len(out.Record.Evidence) != 2 {
		t.Errorf("%v, %s, %+v", err, out.Record.Verdict, out.Record.Evidence)
	}
	if n := strings.Count(judge, "A specialist names a possible defect here"); n != 2 {
		t.Errorf("the judge is told of %d, want 2", n)
	}
}

// TestTheTimeOfSpecialistsPassesOnce: what they used is added up, but they run at the same time.
func TestTheTimeOfSpecialistsPassesOnce(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{"README.md": "one\n", config.RepositoryPath: "review:\n  strategy: specialists\n"},
		map[string]string{"code.txt": "fine()\n"})
	r := newReviewer(t, g, nil)
	r.Engine = reading.Model(func(_ context.Context, req engine.Request, prompt string) (engine.Result, error) {
		reading.Patches(req, prompt)
		result := engine.Result{Text: reading.Answer(prompt, reading.Review(prompt, "Read."), verdict.Approve), Duration: time.Minute,
			CostUSD: 0.5, Usage: verdict.Usage{Output: 2}}
		if strings.Contains(prompt, "Walk these alone: ") {
			result.Duration, result.CostUSD, result.Usage.Output, result.Retries = time.Hour, 0.25, 1, 1
		}
		return result, nil
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	record := out.Record
	if record.Duration < time.Minute || record.Duration > time.Hour || record.CostUSD != 1.25 || record.Usage.Output != 5 {
		t.Errorf("the review took %s, $%v and %d tokens; want the time once and the rest added up", record.Duration, record.CostUSD,
			record.Usage.Output)
	}
	if body := out.Review.Body; !strings.Contains(body, " of sessions · ") || !strings.Contains(body, "3 requests made again") {
		t.Errorf("posted: %s", body)
	}
}

// Specialists and the session that judges after them share the time of a review.
func TestSpecialistsLeaveTimeToTheJudge(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{"README.md": "one\n", config.RepositoryPath: "review:\n  strategy: specialists\n"},
		map[string]string{"code.txt": "fine()\n"})
	const allowed = 4 * time.Minute
	var mu sync.Mutex
	var first, judge time.Duration
	r := newReviewer(t, g, nil)
	r.Engine = reading.Model(func(_ context.Context, req engine.Request, prompt string) (engine.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case strings.Contains(prompt, "Walk these alone: "):
			first = req.Timeout
		case !reading.Asked(prompt):
			judge = req.Timeout
		}
		reading.Patches(req, prompt)
		return engine.Result{Text: reading.Answer(prompt, reading.Review(prompt, "Read."), verdict.Approve)}, nil
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true, Allowance: verdict.Allowance{Time: allowed}})
	if err != nil {
		t.Fatal(err)
	}
	// The sessions' own figures are zero, so that the review's time is that of the specialists by the clock, in a record rounded.
	if used := out.Record.Duration; first != allowed/2 || judge >= allowed || (allowed-judge).Round(time.Millisecond) != used {
		t.Errorf("specialists have %s of %s; after their %s, %s are left to the judge", first, allowed, used, judge)
	}
}

// Specialists that take longer than the review has leave no session to judge, and no request without a bound.
func TestSpecialistsThatTakeAllTimeEndTheReview(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{"README.md": "one\n", config.RepositoryPath: "review:\n  strategy: specialists\n"},
		map[string]string{"code.txt": "fine()\n"})
	r := newReviewer(t, g, nil)
	r.Engine = reading.Model(func(_ context.Context, req engine.Request, prompt string) (engine.Result, error) {
		if !strings.Contains(prompt, "Walk these alone: ") {
			t.Errorf("a session with %s judges", req.Timeout)
		}
		return engine.Result{Text: reading.Answer(prompt, reading.Review(prompt, "Read."), verdict.Approve)}, nil
	})
	_, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true, Allowance: verdict.Allowance{Time: 2}})
	var failure *engine.Error
	if !errors.As(err, &failure) || failure.Class != engine.Timeout {
		t.Errorf("%v", err)
	}
}

// The session that judges reads the change itself: patches that only specialists opened are unread.
func TestWhatSpecialistsOpenTheJudgeHasNotRead(t *testing.T) {
	t.Parallel()
	g, ref := opened(t, map[string]string{"README.md": "one\n", config.RepositoryPath: "review:\n  strategy: specialists\n"},
		map[string]string{"code.txt": "fine()\n"})
	r := newReviewer(t, g, nil)
	r.Engine = reading.Model(func(_ context.Context, req engine.Request, prompt string) (engine.Result, error) {
		if strings.Contains(prompt, "Walk these alone: ") {
			reading.Patches(req, prompt)
		}
		return engine.Result{Text: reading.Answer(prompt, reading.Review(prompt, "Read."), verdict.Approve)}, nil
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{DryRun: true})
	if err != nil || out.Record.Verdict != verdict.RequestChanges || !strings.Contains(out.Review.Body, "whose patch it never opened") {
		t.Errorf("%v, %s:\n%s", err, out.Record.Verdict, out.Review.Body)
	}
}
