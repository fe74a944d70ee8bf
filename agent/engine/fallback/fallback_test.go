package fallback_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/engine/fallback"
	"touchstone/agent/telemetry"
	"touchstone/verdict"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

var review = engine.Request{Role: engine.Reviewer, Dir: ".", Model: "opus", Timeout: 20 * time.Minute}

// run holds a session of one turn.
func run(t *testing.T, e *fallback.Engine, req engine.Request) (engine.Result, *engine.Error) {
	t.Helper()
	result, err := enginetest.Run(t.Context(), e, req, "Go on.")
	var failure *engine.Error
	if err != nil && !errors.As(err, &failure) {
		t.Fatalf("an error without a class: %v", err)
	}
	return result, failure
}

// TestErrorClassDecidesWhoIsAskedNext: what lies with a provider or a login leads to another model, and what
// the text of a change can bring about does not.
func TestErrorClassDecidesWhoIsAskedNext(t *testing.T) {
	const goesOn, toAnotherEngine = "claude opus, claude sonnet", "claude opus, codex gpt"
	want := map[engine.Class]string{
		engine.Overloaded: goesOn, engine.RateLimited: goesOn, engine.UnknownModel: goesOn, engine.Server: goesOn,
		engine.PromptTooLarge: goesOn,
		engine.Auth:           toAnotherEngine, engine.Billing: toAnotherEngine, engine.Missing: toAnotherEngine, engine.Network: toAnotherEngine,
	}
	for _, class := range []engine.Class{
		engine.Missing, engine.Auth, engine.Billing, engine.RateLimited, engine.Overloaded, engine.Server, engine.Network, engine.UnknownModel,
		engine.Idle, engine.PromptTooLarge,
		engine.ContextOverflow, engine.Refusal, engine.BadRequest, engine.BadOutput, engine.MaxTurns, engine.Budget, engine.Timeout,
		engine.Cancelled, engine.Crash, engine.Invalid,
	} {
		t.Run(string(class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, e := staged(func(c *config.Engine) { c.Fallback = []string{"sonnet", "codex:gpt"} })
				s.fail("claude opus", class, 0)
				result, failure := run(t, e, review)
				asked, expected := s.heard(), want[class]
				if expected == "" {
					if asked != "claude opus" || failure == nil || failure.Class != class || failure.Message != "it was "+string(class) {
						t.Errorf("asked %s, and it ended in %+v", asked, failure)
					}
				} else if asked != expected || failure != nil || !strings.HasPrefix(result.Switched, "claude opus was requested but ") ||
					!strings.HasSuffix(result.Switched, " answered instead") {
					t.Errorf("asked %s, and it ended in %+v, %v", asked, result, failure)
				}
				if s.open != 0 {
					t.Errorf("%d sessions are left open", s.open)
				}
			})
		})
	}
}

// TestAPromptIsTooLargeIfItIsForAll: a person has to act only if no model accepts the prompt. One that is overloaded may accept
// it later.
func TestAPromptIsTooLargeIfItIsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(func(c *config.Engine) { c.Fallback = []string{"codex:gpt"} })
		s.fail("codex gpt", engine.PromptTooLarge, 0)
		for _, step := range []struct{ opus, want engine.Class }{
			{engine.PromptTooLarge, engine.PromptTooLarge}, {engine.Overloaded, engine.Overloaded}, {"", engine.Overloaded}, // it rests still
		} {
			if step.opus != "" {
				s.fail("claude opus", step.opus, 0)
			}
			_, failure := run(t, e, review)
			if failure == nil || failure.Class != step.want || !strings.HasSuffix(failure.Message, "it was prompt-too-large") ||
				step.want == engine.Overloaded && !strings.HasPrefix(failure.Message, "claude opus is overloaded; then ") {
				t.Errorf("opus: %q, and it ended in %+v", step.opus, failure)
			}
		}
		time.Sleep(3 * time.Minute)
		s.heal("claude opus")
		if _, failure := run(t, e, review); failure != nil || s.open != 0 {
			t.Errorf("%+v, %d sessions are open", failure, s.open)
		}
	})
}

// TestCostOfAllThatWereAskedIsSummed: the figures are of all that were asked, the rest is of the one that
// answered.
func TestCostOfAllThatWereAskedIsSummed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		s.fail("claude opus", engine.Overloaded, 0)
		result, failure := run(t, e, review)
		if failure != nil || result.CostUSD != 1.25 || result.Duration != 2*time.Second || result.Retries != 2 ||
			result.Text != "It is claude sonnet." || result.Engine != "claude" ||
			result.Switched != "claude opus was requested but is overloaded; claude sonnet answered instead" {
			t.Errorf("%+v, %v", result, failure)
		}
		if result, _ := run(t, e, engine.Request{Role: engine.Reviewer, Dir: ".", Model: "sonnet"}); result.Switched != "" {
			t.Errorf("asked for, and yet %q", result.Switched)
		}
	})
}

// TestCommandsShutNoModel: what an author's session ends in after its commands have run, they
// may have brought about.
func TestCommandsShutNoModel(t *testing.T) {
	for _, works := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, e := staged(nil)
			s.play("claude opus", func(_ context.Context, req engine.Request) (engine.Result, error) {
				if works {
					req.Progress(engine.Progress{Kind: engine.ProgressTool, Text: "Bash go test"})
				}
				return engine.Result{}, engine.Errorf(engine.UnknownModel, "there is none")
			})
			_, _ = run(t, e, engine.Request{Role: engine.Author, Dir: ".", Model: "opus"})
			s.heard()
			_, _ = run(t, e, review)
			if asked := strings.HasPrefix(s.heard(), "claude opus"); asked != works {
				t.Errorf("commands ran: %v; asked again: %v", works, asked)
			}
		})
	}
}

// TestALoginIsOfTheWholeEngine: its other models are not asked in vain.
func TestALoginIsOfTheWholeEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		s.fail("claude opus", engine.Billing, 0)
		_, failure := run(t, e, review)
		if s.heard() != "claude opus" || failure == nil || failure.Class != engine.Billing {
			t.Errorf("it ended in %+v", failure)
		}
		if _, failure := run(t, e, review); !errors.Is(failure, fallback.ErrResting) || failure.RetryAfter <= 0 ||
			!strings.Contains(failure.Message, "claude opus, which has no credit left; or to claude sonnet, which has no credit left") {
			t.Errorf("it ended in %+v", failure)
		}
	})
}

func TestErrorNamesEachEngineThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(func(c *config.Engine) { c.Fallback = []string{"sonnet", "codex:gpt"} })
		s.fail("claude opus", engine.Overloaded, 0)
		s.fail("claude sonnet", engine.Server, 0)
		s.fail("codex gpt", engine.Timeout, 0)
		_, failure := run(t, e, review)
		if failure == nil || failure.Class != engine.Timeout ||
			failure.Message != "claude opus is overloaded; claude sonnet failed at its provider; then it was timeout" {
			t.Errorf("it ended in %+v", failure)
		}
	})
}

// A session that has edited or run something is not repeated with another model.
func TestNoOtherModelContinuesASessionThatHasBegun(t *testing.T) {
	tool := func(ctx context.Context, req engine.Request) (engine.Result, error) {
		req.Progress(engine.Progress{Kind: engine.ProgressTool, Text: "Edit a.go"})
		return engine.Result{}, engine.Errorf(engine.Overloaded, "it was overloaded")
	}
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		s.play("claude opus", tool)
		if run(t, e, engine.Request{Role: engine.Author, Dir: ".", Model: "opus"}); s.heard() != "claude opus" {
			t.Error("another model goes on with half-made edits")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		s.play("claude opus", tool)
		if run(t, e, review); s.heard() != "claude opus, claude sonnet" {
			t.Error("a review, which leaves nothing behind, ends")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		session := opened(t, e, review)
		defer session.Close()
		if _, err := session.Ask(t.Context(), "One."); err != nil {
			t.Fatal(err)
		}
		s.fail("claude opus", engine.Overloaded, 0)
		if _, err := session.Ask(t.Context(), "Two."); err == nil || s.heard() != "claude opus, claude opus" {
			t.Errorf("another model goes on with a conversation that it does not know: %v", err)
		}
	})
}

// Another model is not asked where too little is left of what the session may use.
func TestNoOtherModelIsAskedWithTooLittleLeft(t *testing.T) {
	for name, test := range map[string]struct {
		req   engine.Request
		spent engine.Result
		ends  bool
	}{
		"plenty of time":   {engine.Request{Timeout: 10 * time.Minute}, engine.Result{Duration: 8 * time.Minute}, false},
		"too little time":  {engine.Request{Timeout: 10 * time.Minute}, engine.Result{Duration: 8*time.Minute + 1}, true},
		"half of little":   {engine.Request{Timeout: time.Minute}, engine.Result{Duration: 30 * time.Second}, false},
		"less than that":   {engine.Request{Timeout: time.Minute}, engine.Result{Duration: 31 * time.Second}, true},
		"half the money":   {engine.Request{Budget: 1}, engine.Result{CostUSD: 0.5}, false},
		"too little money": {engine.Request{Budget: 1}, engine.Result{CostUSD: 0.51}, true},
		"a step":           {engine.Request{MaxTurns: 5}, engine.Result{Turns: 4}, false},
		"no step":          {engine.Request{MaxTurns: 5}, engine.Result{Turns: 5}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, e := staged(nil)
			s.play("claude opus", func(context.Context, engine.Request) (engine.Result, error) {
				return test.spent, engine.Errorf(engine.Overloaded, "it was overloaded")
			})
			var got engine.Request
			s.play("claude sonnet", func(_ context.Context, req engine.Request) (engine.Result, error) {
				got = req
				return engine.Result{}, nil
			})
			test.req.Role, test.req.Dir, test.req.Model = engine.Reviewer, ".", "opus"
			bounded, _ := test.req.Bounded()
			_, failure := run(t, e, test.req)
			if test.ends {
				if failure == nil || failure.Class != engine.Overloaded ||
					!strings.HasSuffix(failure.Message, "; too little is left of the session's time or budget to ask another model") {
					t.Errorf("it ended in %v", failure)
				}
				return
			}
			if failure != nil || got.Timeout != bounded.Timeout-test.spent.Duration ||
				test.req.Budget > 0 && got.Budget != test.req.Budget-test.spent.CostUSD ||
				test.req.MaxTurns > 0 && got.MaxTurns != test.req.MaxTurns-test.spent.Turns {
				t.Errorf("the next was asked for %+v, and it ended in %v", got, failure)
			}
		})
	}
}

// TestTheSameModelIsNotAskedTwice where the engine's own choice turns out to be one that comes
// later; but what only has a like name is another model.
func TestTheSameModelIsNotAskedTwice(t *testing.T) {
	for name, test := range map[string]struct {
		wanted, real string
		fallback     []string
		asked        string
	}{
		"the next":   {"", "claude-sonnet-4-5", nil, "claude, claude opus"},
		"a later":    {"", "claude-opus-4-5", nil, "claude, claude sonnet"},
		"none":       {"", "", nil, "claude, claude sonnet, claude opus"},
		"a like one": {"codex:gpt-5-mini", "gpt-5-mini", []string{"codex:gpt-5"}, "codex gpt-5-mini, codex gpt-5"},
	} {
		t.Run(name, func(t *testing.T) {
			s, e := staged(func(c *config.Engine) { c.Fallback = test.fallback })
			overloaded := func(real string) func(context.Context, engine.Request) (engine.Result, error) {
				return func(context.Context, engine.Request) (engine.Result, error) {
					return engine.Result{Model: real}, engine.Errorf(engine.Overloaded, "it was overloaded")
				}
			}
			first, _, _ := strings.Cut(test.asked, ", ")
			s.play(first, overloaded(test.real))
			s.play("claude sonnet", overloaded("claude-sonnet-4-5"))
			// Whether the last one answers is not what is asked here.
			_, _ = run(t, e, engine.Request{Role: engine.Reviewer, Dir: ".", Model: test.wanted})
			if asked := s.heard(); asked != test.asked {
				t.Errorf("asked %s; want %s", asked, test.asked)
			}
		})
	}
}

func TestEnginesAreAskedInConfiguredOrder(t *testing.T) {
	for name, test := range map[string]struct {
		wanted string
		set    func(*config.Engine)
		want   []string
	}{
		"a family":              {"opus", nil, []string{"claude opus", "claude sonnet"}},
		"its other side":        {"claude-sonnet-4-5", nil, []string{"claude claude-sonnet-4-5", "claude opus"}},
		"never to the smallest": {"haiku", nil, []string{"claude haiku", "claude sonnet", "claude opus"}},
		"its own choice":        {"", nil, []string{"claude", "claude sonnet", "claude opus"}},
		"of no family":          {"codex:gpt", nil, []string{"codex gpt"}},
		"as configured": {"opus", func(c *config.Engine) { c.Fallback = []string{"codex:", "opus", "haiku"} },
			[]string{"claude opus", "codex", "claude haiku"}},
		"off in capitals": {"opus", func(c *config.Engine) { c.Off = []string{"OPUS"} }, []string{"claude sonnet"}},
		"all off in capitals": {"codex:gpt", func(c *config.Engine) { c.Off, c.Fallback = []string{"Codex:"}, []string{"sonnet"} },
			[]string{"claude sonnet"}},
		"a part switched off": {"claude-opus-4-1", func(c *config.Engine) { c.Off = []string{"opus"} }, []string{"claude sonnet"}},
		"a part of a path": {"opencode:openai/gpt-5",
			func(c *config.Engine) { c.Fallback, c.Off = []string{"opencode:openai/gpt-4.1"}, []string{"gpt-5"} },
			[]string{"opencode openai/gpt-4.1"}},
		"not a part": {"opus", func(c *config.Engine) { c.Off = []string{"son", "pus"} }, []string{"claude opus", "claude sonnet"}},
		"a number": {"claude-opus-4-1", func(c *config.Engine) { c.Off = []string{"4", "4-1"} },
			[]string{"claude claude-opus-4-1", "claude sonnet"}},
		"a short whole name": {"opencode:openai/o3", func(c *config.Engine) { c.Fallback, c.Off = []string{"sonnet"}, []string{"o3"} },
			[]string{"claude sonnet"}},
		"one of an engine": {"opus", func(c *config.Engine) { c.Off = []string{"codex:opus"} }, []string{"claude opus", "claude sonnet"}},
		"all of an engine": {"opus", func(c *config.Engine) { c.Fallback, c.Off = []string{"sonnet", "codex:gpt"}, []string{"claude:"} },
			[]string{"codex gpt"}},
		"chosen for all": {"codex:gpt", func(c *config.Engine) {
			c.Own = &config.Engine{Name: "claude", Models: config.Models{Full: "own", Fix: "fixing"}}
		}, []string{"codex gpt", "claude own"}},
		"its own, off for all": {"codex:gpt", func(c *config.Engine) {
			c.Own, c.Off = &config.Engine{Name: "claude", Model: "opus"},
				[]string{"opus"}
		}, []string{"codex gpt"}},
		"everything": {"opus", func(c *config.Engine) { c.Off = []string{"claude:"} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, e := staged(test.set)
			chain, err := e.Chain(test.wanted, engine.Reviewer)
			var got []string
			for _, c := range chain {
				got = append(got, c.String())
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestUnknownEngine(t *testing.T) {
	_, e := staged(nil)
	if _, failure := run(t, e, engine.Request{Role: engine.Reviewer, Dir: ".", Model: "parrot:polly"}); failure == nil ||
		failure.Class != engine.Invalid || !strings.Contains(failure.Message, `no engine named "parrot"`) {
		t.Errorf("it ended in %v", failure)
	}
}

func TestRestingModelsAreAmongTheMetrics(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { _ = telemetry.Serve(ctx, listener) })
	defer serving.Wait()
	defer cancel()
	s, e := staged(nil)
	req := review
	req.Model = "codex:shown"
	fails := opened(t, e, req)
	answers := opened(t, e, req)
	s.fail("codex shown", engine.Overloaded, 0)
	for _, step := range []struct {
		session engine.Session
		shows   string
	}{{fails, " 1\n"}, {answers, " 0\n"}} {
		_, _ = step.session.Ask(t.Context(), "Go on.") // what becomes of it, the metrics tell
		s.heal("codex shown")
		response, err := http.Get("http://" + listener.Addr().String() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || !strings.Contains(string(text), `touchstone_agent_model_left_alone{engine="codex",model="shown"}`+step.shows) {
			t.Errorf("the metrics do not show%s%v", step.shows, err)
		}
		if err := step.session.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestConcurrentSessionsShareBreakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		s.fail("claude opus", engine.Overloaded, 0)
		run(t, e, review)
		pass(t.Context(), 2*time.Minute)
		s.heard()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, failure := run(t, e, review); failure != nil {
					t.Error(failure)
				}
			})
		}
		wg.Wait()
		asked := s.heard()
		if n := strings.Count(asked, "opus"); n != 1 || strings.Count(asked, "sonnet") != 50 {
			t.Errorf("it was tried %d times: %s", n, asked)
		}
	})
}

// TestProgressCountsAllThatWereAsked reports, while another model works, also what the first one has used: that
// is what is booked if the agent is killed then. It says when the other model begins, which has not seen what the first one
// read.
func TestProgressCountsAllThatWereAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		work := func(req engine.Request, output int64, usd float64) {
			req.Progress(engine.Progress{Kind: engine.ProgressText, Used: verdict.Usage{Output: output}, CostUSD: usd})
		}
		s.play("claude opus", func(_ context.Context, req engine.Request) (engine.Result, error) {
			work(req, 100, 2)
			return engine.Result{Usage: verdict.Usage{Output: 100}, CostUSD: 2}, engine.Errorf(engine.Overloaded, "it is overloaded")
		})
		turns := int64(0)
		s.play("claude sonnet", func(_ context.Context, req engine.Request) (engine.Result, error) {
			turns++
			work(req, 10*turns, float64(turns))
			return engine.Result{Text: "Done.", Usage: verdict.Usage{Output: 10}, CostUSD: 1}, nil
		})
		var got []engine.Progress
		req := review
		req.Progress = func(p engine.Progress) {
			got = append(got, engine.Progress{Kind: p.Kind, Used: p.Used, CostUSD: p.CostUSD})
		}
		session := opened(t, e, req)
		defer session.Close()
		for range 2 {
			if _, err := session.Ask(t.Context(), "Go on."); err != nil {
				t.Fatal(err)
			}
		}
		want := []engine.Progress{
			{Kind: engine.ProgressText, Used: verdict.Usage{Output: 100}, CostUSD: 2},
			{Kind: engine.ProgressSwitch, Used: verdict.Usage{Output: 100}, CostUSD: 2},
			{Kind: engine.ProgressText, Used: verdict.Usage{Output: 110}, CostUSD: 3},
			{Kind: engine.ProgressText, Used: verdict.Usage{Output: 120}, CostUSD: 4},
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v", got)
		}
	})
}

// TestTheBudgetIsOfAllTurns: a turn that failed has its share of it, also when another model takes over later.
func TestTheBudgetIsOfAllTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e := staged(nil)
		class := engine.BadOutput
		s.play("claude opus", func(context.Context, engine.Request) (engine.Result, error) {
			defer func() { class = engine.Overloaded }()
			if class == engine.BadOutput {
				return engine.Result{CostUSD: 4}, engine.Errorf(class, "it cannot be read")
			}
			return engine.Result{}, engine.Errorf(class, "it is overloaded")
		})
		req := review
		req.Budget = 5
		session := opened(t, e, req)
		defer session.Close()
		for range 2 {
			if result, err := session.Ask(t.Context(), "Go on."); err == nil {
				t.Errorf("after $4 of $5 it goes on: %+v", result)
			}
		}
		if asked := s.heard(); asked != "claude opus, claude opus" {
			t.Errorf("asked %s", asked)
		}
	})
}
