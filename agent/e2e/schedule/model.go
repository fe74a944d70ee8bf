package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine"
	"touchstone/verdict"
)

// body is a file's text whose function calls these.
func body(calls ...string) string {
	return "package store\n\n// Search finds everything.\nfunc Search() {\n\t" + strings.Join(calls, "\n\t") + "\n}\n"
}

// text is what a person writes: fine, with a defect or a misspelt word, or not shown as it is, which a
// reviewing session has to answer. No two are the same.
func (w *world) text() string {
	mark := fmt.Sprintf("step(%d)", w.random.Uint32())
	switch w.random.IntN(5) {
	case 0, 1:
		return body("unsafe()", mark)
	case 2:
		return body(mark + " // a\u202eb")
	case 3:
		return body(mark + " " + misspelt)
	}
	return body(mark)
}

// misspelt is what a reviewing session proposes another text for, and does not object to.
const misspelt = "// A tset."

// drops is what a reviewing model says of a change that deletes the fix.
const drops = "It drops a fix."

// price is what one turn of a model costs, in US dollars.
const price = 0.25

// model finds the one defect and repairs it: mostly, or always if it is not random.
type model struct {
	random *rand.Rand
	// slow finds one defect at a time.
	slow bool
}

// one reports one case in so many.
func (m model) one(in int) bool { return m.random != nil && m.random.IntN(in) == 0 }

func (m model) ask(ctx context.Context, request engine.Request, prompt string) (engine.Result, error) {
	started := time.Now()
	if err := ctx.Err(); err != nil {
		return engine.Result{Started: started}, err
	}
	// Findings are checked at the same time. Who of them drew which number would be up to chance, so none draws.
	if text, ok := reading.Upheld(prompt); ok {
		return engine.Result{Text: text, Started: started, Duration: time.Since(started), CostUSD: price}, nil
	}
	if m.one(16) {
		return engine.Result{Started: started, Duration: time.Since(started)}, engine.Errorf(engine.Overloaded, "the model has no capacity")
	}
	do := m.review
	if request.Role == engine.Author {
		do = m.repair
	}
	text, err := do(request, prompt)
	return engine.Result{Text: text, Started: started, Duration: time.Since(started), CostUSD: price}, err
}

// repair takes the defect out, resolves conflicts, and now and then does nothing, or
// nothing that helps.
func (m model) repair(request engine.Request, prompt string) (string, error) {
	path := filepath.Join(request.Dir, filepath.FromSlash(file))
	data, err := os.ReadFile(path)
	if err != nil || m.one(8) {
		return "It cannot be done.", nil
	}
	text := string(data)
	if strings.Contains(text, "<<<<<<<") {
		text = body(fmt.Sprintf("both(%d)", rand.Uint32()))
	}
	repaired := fmt.Sprintf("safe(%d)", rand.Uint32())
	if m.one(8) {
		repaired = fmt.Sprintf("unsafe()\n\tmore(%d)", rand.Uint32())
	}
	n := -1
	if m.slow {
		n = 1
	}
	text = strings.Replace(text, "unsafe()", repaired, n)
	return reading.Repaired(prompt), os.WriteFile(path, []byte(text), 0o600)
}

// review is an answer in due form about the file as it is.
func (m model) review(request engine.Request, prompt string) (string, error) {
	reading.Patches(request, prompt)
	data, err := os.ReadFile(filepath.Join(request.Dir, filepath.FromSlash(file)))
	if err != nil {
		return "", err
	}
	a, v := reading.Review(prompt, "Read."), verdict.Approve
	for i, line := range strings.Split(string(data), "\n") {
		if strings.Contains(line, "unsafe()") && !(m.slow && len(a.Findings) > 0) {
			v = verdict.RequestChanges
			a.Findings = append(a.Findings, verdict.Finding{Dimension: verdict.Security, Severity: verdict.Major, Rule: "security/S3",
				Path: file, Line: i + 1, Quote: line, Claim: "It is unsafe.", Why: "It breaks.", Verify: "Read it."})
		}
		if strings.Contains(line, misspelt) {
			a.Findings = append(a.Findings, verdict.Finding{Dimension: verdict.Doc, Severity: verdict.Nit, Rule: "doc/D4",
				Path: file, Line: i + 1, Quote: line, Claim: "A word is misspelt.", Why: "It is hard to read.",
				Suggestion: strings.Replace(line, "tset", "test", 1), Verify: "Read it."})
		}
	}
	if strings.Contains(prompt, "\n- "+fix+" (deleted") {
		v = verdict.RequestChanges
		a.Findings = append(a.Findings, verdict.Finding{Dimension: verdict.Security, Severity: verdict.Critical, Rule: "security/S3",
			Claim: drops, Why: "It breaks.", Verify: "Read it."})
	}
	return reading.Answer(prompt, a, v), nil
}
