package fallback_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/fallback"
)

// TestOverloadedModelRestsTwoMinutes: what is overloaded is left alone for two minutes; then one session tries.
func TestOverloadedModelRestsTwoMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		asks := func(when, want string) {
			t.Helper()
			if _, failure := run(t, e, review); failure != nil || s.heard() != want {
				t.Errorf("%s: %v", when, failure)
			}
		}
		s.fail("claude opus", engine.Overloaded, 0)
		asks("at first", "claude opus, claude sonnet")
		asks("while it rests", "claude sonnet")
		pass(t.Context(), 2*time.Minute-2*time.Second)
		asks("before the time", "claude sonnet")
		pass(t.Context(), 2*time.Second)
		asks("tried, in vain", "claude opus, claude sonnet")
		asks("resting again", "claude sonnet")
		s.heal("claude opus")
		asks("nobody knows yet", "claude sonnet")
		pass(t.Context(), 2*time.Minute)
		asks("tried, and well", "claude opus")
		asks("closed", "claude opus")
	})
}

// TestOnlyOneSessionTriesAnOverloadedModel: while one session tries, the others do not; once it speaks, they need not wait
// for it to end.
func TestOnlyOneSessionTriesAnOverloadedModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		s.fail("claude opus", engine.Overloaded, 0)
		run(t, e, review)
		pass(t.Context(), 2*time.Minute)
		s.heard()
		s.play("claude opus", func(ctx context.Context, req engine.Request) (engine.Result, error) {
			pass(ctx, 30*time.Second)
			req.Progress(engine.Progress{Kind: engine.ProgressText, Text: "Well"})
			pass(ctx, 10*time.Minute)
			return engine.Result{}, nil
		})
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { run(t, e, review) })
		synctest.Wait()
		if run(t, e, review); s.heard() != "claude opus, claude sonnet" {
			t.Error("another one tries as well")
		}
		pass(t.Context(), 30*time.Second)
		synctest.Wait()
		for range 2 {
			wg.Go(func() { run(t, e, review) })
			synctest.Wait()
		}
		if asked := s.heard(); asked != "claude opus, claude opus" {
			t.Errorf("after the first sign of life %s is asked", asked)
		}
	})
}

// TestUnansweredTrialIsPassedOn: who was let through and did not find out lets the next one through.
func TestUnansweredTrialIsPassedOn(t *testing.T) {
	for name, vain := range map[string]func(*testing.T, *stage, *fallback.Engine){
		"closed unasked": func(t *testing.T, _ *stage, e *fallback.Engine) {
			session, err := e.Open(t.Context(), review)
			if err != nil || session.Close() != nil {
				t.Fatal(err)
			}
		},
		"ended for another reason": func(t *testing.T, s *stage, e *fallback.Engine) {
			s.fail("claude opus", engine.Refusal, 0)
			run(t, e, review)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, e := staged(nil)
				s.fail("claude opus", engine.Overloaded, 0)
				run(t, e, review)
				pass(t.Context(), 2*time.Minute)
				vain(t, s, e)
				s.heal("claude opus")
				s.heard()
				if run(t, e, review); s.heard() != "claude opus" {
					t.Error("nobody may try any more")
				}
			})
		})
	}
}

// TestTrialGoesOnWhenOtherSessionsEnd: a session from before says nothing of the one that tries.
func TestTrialGoesOnWhenOtherSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		old := opened(t, e, review)
		s.fail("claude opus", engine.Overloaded, 0)
		run(t, e, review)
		pass(t.Context(), 2*time.Minute)
		probe := opened(t, e, review)
		s.fail("claude opus", engine.Refusal, 0)
		if _, err := old.Ask(t.Context(), "Go on."); err == nil {
			t.Fatal("it answers")
		}
		s.heard()
		if run(t, e, review); s.heard() != "claude sonnet" {
			t.Error("another one tries as well")
		}
		if err := errors.Join(old.Close(), probe.Close()); err != nil {
			t.Error(err)
		}
	})
}

// TestALaterFailureShortensNoRest that a provider has asked for.
func TestALaterFailureShortensNoRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(func(c *config.Engine) { c.Off = []string{"sonnet"} })
		old := opened(t, e, review)
		s.fail("claude opus", engine.RateLimited, time.Hour)
		run(t, e, review)
		s.fail("claude opus", engine.Overloaded, 0)
		if _, err := old.Ask(t.Context(), "Go on."); err == nil {
			t.Fatal("it answers")
		}
		if _, failure := run(t, e, review); !errors.Is(failure, fallback.ErrResting) || failure.RetryAfter < 59*time.Minute {
			t.Errorf("it is left alone for %+v", failure)
		}
		if err := old.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestModelRestsAsLongAsItsProviderAsksWithinBounds is by the provider's word where that is longer, but not for ever.
func TestModelRestsAsLongAsItsProviderAsksWithinBounds(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{0: 2 * time.Minute, time.Minute: 2 * time.Minute,
		10 * time.Minute: 10 * time.Minute, 48 * time.Hour: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s, e := staged(func(c *config.Engine) { c.Off = []string{"sonnet"} })
			s.fail("claude opus", engine.RateLimited, asked)
			run(t, e, review)
			if _, failure := run(t, e, review); !errors.Is(failure, fallback.ErrResting) || failure.Class != engine.RateLimited ||
				failure.RetryAfter != want {
				t.Errorf("asked to wait for %s it says %+v", asked, failure)
			}
			if asked := s.heard(); asked != "claude opus" {
				t.Errorf("asked %s", asked)
			}
		})
	}
}

// TestServerErrorsCountOnlyTwiceInARow: what a moment can bring about has to come twice in a row.
func TestServerErrorsCountOnlyTwiceInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(func(c *config.Engine) { c.Off = []string{"sonnet"} })
		for _, step := range []engine.Class{engine.Server, "", engine.Server, engine.Server} {
			if step == "" {
				s.heal("claude opus")
			} else {
				s.fail("claude opus", step, 0)
			}
			if run(t, e, review); s.heard() != "claude opus" {
				t.Fatal("it was not asked")
			}
		}
		if _, failure := run(t, e, review); !errors.Is(failure, fallback.ErrResting) {
			t.Errorf("after two in a row: %v", failure)
		}
	})
}

// TestCrashesOnOneChangeStopNoOther, however often it crashes a CLI or has it fall silent.
func TestCrashesOnOneChangeStopNoOther(t *testing.T) {
	for _, class := range []engine.Class{engine.Crash, engine.BadOutput, engine.Idle} {
		synctest.Test(t, func(t *testing.T) {
			s, e := staged(nil)
			s.fail("claude opus", class, 0)
			for range 5 {
				if _, failure := run(t, e, review); s.heard() != "claude opus" {
					t.Errorf("%s: it ended in %v", class, failure)
				}
			}
		})
	}
}

// TestSilenceOverDifferentChanges in a row is the provider's.
func TestSilenceOverDifferentChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		s.fail("claude opus", engine.Idle, 0)
		for _, step := range []struct{ dir, asked string }{
			{"/one", "claude opus"}, {"/one", "claude opus"}, {"/two", "claude opus"}, {"/one", "claude sonnet"}, {"/three", "claude sonnet"},
		} {
			req := review
			req.Dir = step.dir
			if run(t, e, req); s.heard() != step.asked {
				t.Errorf("over %s somebody else than %s was asked", step.dir, step.asked)
			}
		}
	})
}
