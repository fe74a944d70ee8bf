package conformance_test

import (
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/engine/enginetest"
)

// dear is what any model costs in these tests: a dollar for each token it writes.
var dear = engine.Prices{"any": {Output: 1e6}}

// reads are answers that go on for ever.
func reads(s subject) enginetest.Turn {
	turn := s.read("a.go")
	turn.Text = []string{"Let me look at it once more."}
	return turn
}

// testBudget has a session go on until it has spent its budget, which the first answer
// does, by the CLI's own prices too.
func testBudget(t *testing.T, s subject) {
	b := newBench(t, s, nil, reads(s))
	b.program.Prices = dear
	b.reset(t)
	req := b.reviewer()
	req.Budget = 0.0001
	result := b.endsEarly(t, req, engine.Budget)
	if calls := b.provider.Calls(); len(calls) != 1 || result.CostUSD < req.Budget {
		t.Errorf("the provider was asked %d times, for $%g; want to be stopped after the first answer", len(calls), result.CostUSD)
	}
}

// testMaxTurns has a session go on until it has used up its turns.
func testMaxTurns(t *testing.T, s subject) {
	b := newBench(t, s, nil, reads(s))
	req := b.reviewer()
	req.MaxTurns = 2
	b.endsEarly(t, req, engine.MaxTurns)
	if calls := b.provider.Calls(); len(calls) != 2 {
		t.Errorf("the provider was asked %d times for two turns", len(calls))
	}
}

// endsEarly holds a session of one turn that has to be stopped for what it has used,
// which its result tells all the same.
func (b *bench) endsEarly(t *testing.T, req engine.Request, class engine.Class) engine.Result {
	t.Helper()
	result, err := enginetest.Run(t.Context(), b.engine, req, "Go on.")
	wantClass(t, err, class)
	if want := enginetest.Sum(b.provider.Calls()); result.Usage.Prompt() != want.Prompt() || result.Usage.Output != want.Output {
		t.Errorf("usage = %+v; want %+v", result.Usage, want)
	}
	if result.Engine != b.name || result.Model == "" || result.Duration == 0 {
		t.Errorf("result = %+v", result)
	}
	return result
}

// testDirect has a CLI ask its provider itself.
func testDirect(t *testing.T, s subject) {
	b := newBench(t, s, nil, enginetest.Turn{Text: []string{"Hello."}})
	b.program.Direct, b.program.Prices = true, dear
	b.reset(t)
	req := b.reviewer()
	req.MaxTurns = 1
	conversation, err := b.engine.Open(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer conversation.Close()
	result, err := conversation.Ask(t.Context(), "Go on.")
	if err != nil {
		t.Fatal(err)
	}
	calls := b.provider.Calls()
	if want := enginetest.Sum(calls); result.Text != "Hello." || result.Usage.Prompt() != want.Prompt() ||
		result.Usage.Output != want.Output || result.CostUSD == 0 {
		t.Errorf("result = %+v; want usage %+v", result, want)
	}
	_, err = conversation.Ask(t.Context(), "Go on.")
	wantClass(t, err, engine.MaxTurns)
	if again := b.provider.Calls(); len(again) != len(calls) {
		t.Errorf("the provider was asked %d times for one turn", len(again))
	}
}
