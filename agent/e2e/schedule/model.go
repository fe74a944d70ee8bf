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

// body returns the text of a file whose function makes these calls.
func body(calls ...string) string {
	return "package store\n\n// Search finds everything.\nfunc Search() {\n\t" + strings.Join(calls, "\n\t") + "\n}\n"
}

// text returns what a person writes: fine, with a defect, with a misspelt word, or with a character that
// changes how the text is displayed, which a reviewing session must answer. No two texts are the same.
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

// misspelt is a line for which a reviewing session suggests another text, without objecting to it.
const misspelt = "// A tset."

// drops is the reviewing model's claim about a change that deletes the fix.
const drops = "It drops a fix."

// price is what one turn of a model costs, in US dollars.
const price = 0.25

// model finds the single defect and repairs it: usually, or always if random is nil.
type model struct {
	random *rand.Rand
	// slow makes the model find one defect at a time.
	slow bool
}

// one reports true in one of so many cases.
func (m model) one(in int) bool { return m.random != nil && m.random.IntN(in) == 0 }

func (m model) ask(ctx context.Context, request engine.Request, prompt string) (engine.Result, error) {
	started := time.Now()
	if err := ctx.Err(); err != nil {
		return engine.Result{Started: started}, err
	}
	// Findings are checked concurrently. Which check got which random number would be up to chance, so none of
	// them gets one.
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

// repair removes the defect and resolves conflicts. Sometimes it does nothing, or nothing that helps.
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

// review returns an answer in the required form about the current file.
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
