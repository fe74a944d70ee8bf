package claude_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
)

// open begins a session that ends with the test.
func open(t *testing.T, e engine.Engine, req engine.Request) engine.Session {
	t.Helper()
	s, err := e.Open(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestRealSessionGoesOnAfterAStop stops a turn before the model's first word, and
// one after it, and asks again each time.
func TestRealSessionGoesOnAfterAStop(t *testing.T) {
	t.Parallel()
	p := enginetest.NewProvider(t,
		enginetest.Turn{Hang: enginetest.HangBefore},
		enginetest.Turn{Text: []string{"An answer."}},
		enginetest.Turn{Text: []string{"Reading."}, Tool: "Glob", Input: map[string]any{"pattern": "*"}},
		enginetest.Turn{Hang: enginetest.HangBefore},
		enginetest.Turn{Text: []string{"Where was I."}},
	)
	s := open(t, realEngine(t, p), reviewer(t.TempDir()))
	// stopped asks and cancels as soon as the provider has its n-th request.
	stopped := func(prompt string, n int) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := s.Ask(ctx, prompt)
			ended <- err
		}()
		poll := time.NewTicker(5 * time.Millisecond)
		defer poll.Stop()
		for len(p.Calls()) < n {
			select {
			case err := <-ended:
				t.Fatalf("the turn ended by itself: %v", err)
			case <-poll.C:
			}
		}
		cancel()
		wantClass(t, <-ended, engine.Cancelled)
	}
	stopped("LOST-QUESTION", 1)
	if result, err := s.Ask(context.Background(), "FIRST-QUESTION"); err != nil || result.Text != "An answer." {
		t.Fatalf("after a stop before the first word: %q, %v", result.Text, err)
	}
	stopped("SECOND-QUESTION", 4)
	if result, err := s.Ask(context.Background(), "THIRD-QUESTION"); err != nil || result.Text != "Where was I." {
		t.Fatalf("after a stop between two words: %q, %v", result.Text, err)
	}
	calls := p.Calls()
	last := string(calls[len(calls)-1].Body)
	for _, want := range []string{"FIRST-QUESTION", "An answer.", "SECOND-QUESTION", "Reading.", "THIRD-QUESTION"} {
		if !strings.Contains(last, want) {
			t.Errorf("the last turn was not told %q", want)
		}
	}
}
