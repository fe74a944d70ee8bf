package fallback_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/fallback"
)

// TestSwitchedOffModelsAreNotAsked: what is switched off is not asked, the review says so, and where nothing is
// left there is no attempt.
func TestSwitchedOffModelsAreNotAsked(t *testing.T) {
	_, e := staged(func(c *config.Engine) { c.Off = []string{"opus"} })
	if result, failure := run(t, e, review); failure != nil ||
		result.Switched != "claude opus was requested but is switched off; claude sonnet answered instead" {
		t.Errorf("%+v, %v", result, failure)
	}
	s, e := staged(func(c *config.Engine) { c.Off = []string{"claude:"} })
	if _, failure := run(t, e, review); !errors.Is(failure, fallback.ErrResting) || !strings.Contains(failure.Message, "engine.off") ||
		s.heard() != "" {
		t.Errorf("it ended in %v", failure)
	}
}

// TestSwitchedOffAtWork: a model that is switched off stops within seconds, and another attempt
// asks another one.
func TestSwitchedOffAtWork(t *testing.T) {
	for _, off := range []string{"opus", "opus-9"} {
		synctest.Test(t, func(t *testing.T) { switchedOffAtWork(t, off) })
	}
}

func switchedOffAtWork(t *testing.T, off string) {
	var mu sync.Mutex
	settings := config.Default().Engine
	s, e := staged(nil)
	e.Settings = func() config.Engine {
		mu.Lock()
		defer mu.Unlock()
		return settings
	}
	s.play("claude opus", func(ctx context.Context, req engine.Request) (engine.Result, error) {
		if err := req.Asks("claude-opus-9"); err != nil {
			return engine.Result{}, &engine.Error{Class: engine.Cancelled, Message: err.Error(), Err: err}
		}
		pass(ctx, 10*time.Minute)
		return engine.Result{CostUSD: 1}, &engine.Error{Class: engine.Cancelled, Message: "it was cancelled", Err: context.Cause(ctx)}
	})
	began := time.Now()
	var ended sync.WaitGroup
	ended.Go(func() {
		result, failure := run(t, e, review)
		if took := time.Since(began); !errors.Is(failure, fallback.ErrResting) || failure.Class != engine.Cancelled || took > 12*time.Second ||
			result.CostUSD != 1 {
			t.Errorf("after %s it ended in %+v, %v", took, result, failure)
		}
	})
	pass(t.Context(), 10*time.Second)
	mu.Lock()
	settings.Off = []string{off}
	mu.Unlock()
	ended.Wait()
	if _, failure := run(t, e, review); failure != nil || s.heard() != "claude opus, claude sonnet" {
		t.Errorf("another attempt ended in %v", failure)
	}
}

// TestSwitchedOffByTheProvidersName: the next model answers in the same session, and what it is
// called is kept, so that the sessions after that are not begun with it.
func TestSwitchedOffByTheProvidersName(t *testing.T) {
	for _, off := range []string{"claude-opus-9", "opus-9", "claude:claude-opus-9"} {
		var switches []string
		s, e := staged(nil)
		e.Settings = func() config.Engine {
			settings := config.Default().Engine
			settings.Off = switches
			return settings
		}
		s.call("claude opus", "claude-opus-9")
		for _, step := range []struct {
			off   []string
			asked string
		}{
			{[]string{off}, "claude opus, claude sonnet"},
			{[]string{off}, "claude sonnet"},
			{nil, "claude opus"},
			{[]string{off}, "claude sonnet"},
		} {
			switches = step.off
			result, failure := run(t, e, review)
			if failure != nil || s.heard() != step.asked || s.open != 0 ||
				len(step.off) > 0 && result.Switched != "claude opus was requested but is switched off; claude sonnet answered instead" {
				t.Errorf("%s is off: %+v, %v; %d sessions are left open", step.off, result, failure, s.open)
			}
		}
	}
}

// TestLatestSettingsDecideWhatAChoiceIs with its CLI: what the latest session asked for counts.
func TestLatestSettingsDecideWhatAChoiceIs(t *testing.T) {
	var switches []string
	s, e := staged(nil)
	e.Settings = func() config.Engine {
		settings := config.Default().Engine
		settings.Off = switches
		return settings
	}
	for _, name := range []string{"claude-opus-8", "claude-opus-9"} {
		s.call("claude opus", name)
		if _, failure := run(t, e, review); failure != nil {
			t.Fatal(failure)
		}
	}
	switches = []string{"opus-8"}
	s.heard()
	if _, failure := run(t, e, review); failure != nil || s.heard() != "claude opus" {
		t.Errorf("it is taken for what it was before: %v", failure)
	}
}

// TestAllOfItSwitchedOffByTheProvidersName is no attempt, and is not asked again and again.
func TestAllOfItSwitchedOffByTheProvidersName(t *testing.T) {
	s, e := staged(func(c *config.Engine) { c.Off = []string{"opus-9", "sonnet"} })
	s.call("claude opus", "claude-opus-9")
	if _, failure := run(t, e, review); !errors.Is(failure, fallback.ErrResting) ||
		!strings.Contains(failure.Message, "claude opus was to ask for claude-opus-9: it is switched off by engine.off") {
		t.Errorf("it ended in %v", failure)
	}
	s.heard()
	if _, failure := run(t, e, review); !errors.Is(failure, fallback.ErrResting) || failure.RetryAfter != 2*time.Minute || s.heard() != "" {
		t.Errorf("it ended in %+v", failure)
	}
}
