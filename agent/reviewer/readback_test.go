package reviewer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine"
	"touchstone/agent/reviewer"
	"touchstone/guidelines"
	"touchstone/verdict"
)

const (
	excused = "The early return leaves the handle open when the limit is hit, which the operators hardly ever see."
	second  = "The limit also admits one entry more than the documents say, but nobody counts them."
	about   = "I followed the handle from where it is opened to where the change hands it over."
)

// turn is one answer of a reviewing session: its text, and what it lists.
type turn struct {
	text       string
	findings   []verdict.Finding
	candidates []verdict.Candidate
}

// readBack is a review whose session answers by the turns, and whose texts are read by a function.
func readBack(t *testing.T, settings string, read func(loopback.Asked) (string, error), turns ...turn) (out reviewer.Outcome,
	asked, texts []loopback.Asked) {
	t.Helper()
	g, ref := opened(t, map[string]string{"README.md": "one\n", config.RepositoryPath: settings},
		map[string]string{"code.go": "package code\n\nfunc load() {\n\tunsafe()\n\treturn\n}\n"})
	r := newReviewer(t, g, nil)
	r.Settings = func() config.Engine { return config.Engine{Models: config.Models{Check: "two"}} }
	r.Engine = reading.Model(func(_ context.Context, req engine.Request, prompt string) (engine.Result, error) {
		a := loopback.Asked{Request: req, Prompt: prompt}
		if reading.Asked(prompt) {
			texts = append(texts, a)
			text, err := read(a)
			return engine.Result{Text: text, Engine: "model", Model: "two", CostUSD: 0.25}, err
		}
		if text, ok := reading.Refutes(prompt, "code.go", "unsafe()\n\treturn"); ok {
			return engine.Result{Text: text, Engine: "model", Model: "two"}, nil
		}
		reading.Patches(req, prompt)
		now := turns[len(asked)]
		asked = append(asked, a)
		answer, v := reading.Review(prompt, "Read.", now.findings...), verdict.Approve
		answer.Files, answer.Candidates = []string{"code.go"}, now.candidates
		for _, f := range now.findings {
			if f.Blocks() {
				v = verdict.RequestChanges
			}
		}
		return engine.Result{Text: "## [Graph]\n" + now.text + "\n\n" + reading.Answer(prompt, answer, v), Engine: "model", Model: "one"}, nil
	})
	out, err := r.Review(t.Context(), g.Read(loopback.Judge, ref), reviewer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out, asked, texts
}

// names answers with the passages whose quotes the text has, and those of the first answer whose claim is in no list.
func names(quotes ...string) func(loopback.Asked) (string, error) {
	return func(r loopback.Asked) (string, error) {
		var all []verdict.Passage
		text, lists, _ := strings.Cut(r.Prompt, "\n# What its lists have\n")
		text, first, _ := strings.Cut(text, "\n# What the text of its first answer said\n")
		for _, q := range quotes {
			claim := "The handle leaks."
			if q == second {
				claim = "The limit is off by one."
			}
			if strings.Contains(lists, "refuted: ") && strings.Contains(lists, claim) {
				continue
			}
			if strings.Contains(text, q) || strings.Contains(first, q) && !strings.Contains(lists, claim) {
				all = append(all, verdict.Passage{Quote: q, Path: "code.go", Claim: claim})
			}
		}
		answer, _ := reading.Names(r.Prompt, all...)
		return answer, nil
	}
}

// A defect that an approval's text names, in whatever words, and that its lists lack, is asked for. The approval stands
// only if the second answer lists it as refuted, and no longer talks it away.
func TestAnApprovalIsReadBack(t *testing.T) {
	t.Parallel()
	leak := finding(4)
	leak.Rule, leak.Path, leak.Claim = "architecture/A5", "code.go", "The handle leaks."
	nit := leak
	nit.Severity = verdict.Nit
	refuted := verdict.Candidate{Rule: "architecture/A5", Path: "code.go", Line: 3, Claim: "The handle leaks.",
		Reason: "It is closed.", Quote: "func load() {"}
	listed := []verdict.Candidate{refuted}
	untrue, other := nit, refuted
	untrue.Quote, other.Claim = "nothing like this", "The name is wrong."
	settled, reported := turn{text: about, candidates: listed}, turn{text: about, findings: []verdict.Finding{leak}}
	for name, test := range map[string]struct {
		turns []turn
		want  verdict.Verdict
		reads int
	}{
		"nothing is talked away":         {[]turn{{text: about}}, verdict.Approve, 1},
		"it becomes a finding":           {[]turn{{text: excused}, reported}, verdict.RequestChanges, 1},
		"it becomes a nit":               {[]turn{{text: excused}, {text: about, findings: []verdict.Finding{nit}}}, verdict.Approve, 2},
		"it is refuted by code":          {[]turn{{text: excused}, settled}, verdict.Approve, 2},
		"the second answer is silent":    {[]turn{{text: excused}, {text: about}}, verdict.RequestChanges, 1},
		"it is talked away again":        {[]turn{{text: excused}, {text: excused, candidates: listed}}, verdict.RequestChanges, 2},
		"its file has another candidate": {[]turn{{text: excused, candidates: listed}, settled}, verdict.RequestChanges, 1},
		"another defect is listed instead": {[]turn{{text: excused}, {text: about, candidates: []verdict.Candidate{other}}},
			verdict.RequestChanges, 2},
		"of two, one is listed": {[]turn{{text: excused + "\n" + second}, settled}, verdict.RequestChanges, 2},
		"of two, one is listed twice": {[]turn{{text: excused + "\n" + second}, {text: about, candidates: []verdict.Candidate{refuted, refuted}}},
			verdict.RequestChanges, 2},
		"nothing is said about it any more": {[]turn{{text: excused}, {text: "Read.", candidates: listed}}, verdict.Approve, 2},
		"it was a nit that did not hold": {[]turn{{text: excused, findings: []verdict.Finding{untrue}}, {text: about,
			findings: []verdict.Finding{nit}}}, verdict.Approve, 2},
		"more is said than can be read":   {[]turn{{text: strings.Repeat(about, 1000)}, settled}, verdict.Approve, 1},
		"only what was looked at is said": {[]turn{{text: "Looked at one changed file."}}, verdict.Approve, 0},
		"the review requests changes":     {[]turn{{text: excused, findings: []verdict.Finding{leak}}}, verdict.RequestChanges, 0},
		"what blocked is refuted":         {[]turn{{text: about, findings: []verdict.Finding{grave(leak)}}}, verdict.Approve, 1},
		"it is refuted, and told":         {[]turn{{text: excused, findings: []verdict.Finding{grave(leak)}}}, verdict.Approve, 1},
		"it is refuted, and another told": {[]turn{{text: second, findings: []verdict.Finding{grave(leak)}}}, verdict.RequestChanges, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, asked, reads := readBack(t, "", names(excused, second), append(test.turns, turn{}, turn{})...)
			if out.Judgement.Verdict != test.want || len(reads) != test.reads {
				t.Fatalf("%s after %d readings, want %s after %d; doubts %q", out.Judgement.Verdict, len(reads), test.want, test.reads,
					out.Judgement.Doubts)
			}
			if len(asked) != len(test.turns) {
				t.Errorf("the session was asked %d times, want %d", len(asked), len(test.turns))
			}
			for _, r := range reads {
				if r.Model != "two" || r.Instructions != guidelines.ReaderInstructions() || strings.Contains(r.Prompt, "Change topic") {
					t.Errorf("read by %q with %q", r.Model, r.Prompt)
				}
			}
			if len(test.turns) == 2 && test.turns[0].text == excused && !strings.Contains(asked[1].Prompt, excused) {
				t.Errorf("the second prompt does not say what is meant: %q", asked[1].Prompt)
			}
			if test.reads > 0 && !strings.Contains(out.Review.Body, "checked by model two") {
				t.Errorf("the review does not say who read it: %s", out.Review.Body)
			}
		})
	}
}

// What the reader copied as it was shown, or not letter by letter, is still what the text says.
func TestAQuoteOfAnApprovalIsFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ said, quote string }{
		"in other capitals":       {excused, strings.ToLower(excused)},
		"with words left out":     {excused, "The early return leaves the handle open ... the operators hardly ever see"},
		"hidden characters shown": {strings.Replace(excused, "handle", "han\u200bdle", 1), "the han⟦U+200B⟧dle open when the limit is hit"},
		"in few characters":       {"提前返回时句柄没有被关闭，不过这种情况在生产环境中很少发生。", "句柄没有被关闭"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := func(r loopback.Asked) (string, error) {
				text, _ := reading.Names(r.Prompt, verdict.Passage{Quote: test.quote, Path: "code.go", Claim: "The handle leaks."})
				return text, nil
			}
			if out, asked, _ := readBack(t, "", read, turn{text: test.said}, turn{text: about}); out.Judgement.Verdict == verdict.Approve {
				t.Errorf("approved after %d turns", len(asked))
			}
		})
	}
}

// A reader's slip in copying a sentence does not hide the defect that it names.
func TestAPassageIsFoundDespiteASlip(t *testing.T) {
	t.Parallel()
	read := func(r loopback.Asked) (string, error) {
		text, _ := reading.Names(r.Prompt, verdict.Passage{Quote: strings.Replace(excused, "the operators hardly ever", "operators hardly", 1)})
		return text, nil
	}
	if out, asked, _ := readBack(t, "", read, turn{text: excused}, turn{}); out.Judgement.Verdict == verdict.Approve || len(asked) != 2 {
		t.Errorf("%s after %d turns", out.Judgement.Verdict, len(asked))
	}
}

// An approval stands if its text cannot be read back, or if the reader names what the text does not say.
func TestAReaderCannotHoldUpAnApprovalByItself(t *testing.T) {
	t.Parallel()
	answers := map[string]func(loopback.Asked) (string, error){
		"made up": func(r loopback.Asked) (string, error) {
			return names("no such sentence anywhere")(loopback.Asked{Prompt: r.Prompt + "no such sentence anywhere"})
		},
		"too little":  func(r loopback.Asked) (string, error) { return names("the handle")(r) },
		"another run": func(loopback.Asked) (string, error) { return "<!-- RUN:X -->\n" + verdict.ReadMarker, nil },
		"no answer":   func(loopback.Asked) (string, error) { return "", errors.New("overloaded") },
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, asked, reads := readBack(t, "", answer, turn{text: about}, turn{})
			if out.Judgement.Verdict != verdict.Approve || len(asked) != 1 || len(reads) != 1 {
				t.Errorf("%s after %d turns and %d readings; doubts %q", out.Judgement.Verdict, len(asked), len(reads), out.Judgement.Doubts)
			}
			read := name == "made up" || name == "too little"
			if strings.Contains(out.Review.Body, "was not read by another session") == read {
				t.Errorf("what the review says of who read it: %s", out.Review.Body)
			}
		})
	}
	out, _, reads := readBack(t, "review:\n  check: \"off\"\n", names(excused), turn{text: excused})
	if out.Judgement.Verdict != verdict.Approve || len(reads) != 0 {
		t.Errorf("with review.check off: %s after %d readings", out.Judgement.Verdict, len(reads))
	}
}
