package fallback_test

import (
	"testing"
	"testing/synctest"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/journal"
)

// TestWhatRestsIsTold: which models are left alone, since and until when and why; and again
// once they answer.
func TestWhatRestsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(func(c *config.Engine) { c.Fallback = []string{"sonnet", "codex:gpt"} })
		var told []journal.Rest
		e.Resting = func(resting []journal.Rest) { told = resting }
		rests := func(when string, want ...journal.Rest) {
			t.Helper()
			if len(told) != len(want) {
				t.Fatalf("%s: told of %+v; want %+v", when, told, want)
			}
			for i := range want {
				if told[i] != want[i] {
					t.Errorf("%s: told of %+v; want %+v", when, told[i], want[i])
				}
			}
		}
		begun := time.Now()
		s.fail("claude opus", engine.Overloaded, 0)
		s.fail("claude sonnet", engine.Auth, 10*time.Minute)
		run(t, e, review)
		opus := journal.Rest{Model: "claude opus", Why: "is overloaded", Since: begun.Add(time.Second),
			Until: begun.Add(time.Second + 2*time.Minute)}
		claude := journal.Rest{Model: "every model of claude", Why: "has no login that its provider accepts", Since: begun.Add(2 * time.Second),
			Until: begun.Add(2*time.Second + 10*time.Minute)}
		rests("at first", claude, opus)
		pass(t.Context(), 10*time.Minute)
		run(t, e, review) // opus is tried, in vain, and then sonnet
		opus.Until = begun.Add(10*time.Minute + 3*time.Second + 2*time.Minute)
		if len(told) != 2 || told[1] != opus {
			t.Errorf("tried in vain: told of %+v; want %+v among it", told, opus)
		}
		s.heal("claude opus")
		s.heal("claude sonnet")
		pass(t.Context(), time.Hour)
		run(t, e, review)
		rests("answering again")
	})
}
