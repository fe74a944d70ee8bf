package forgery

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine"
	"touchstone/verdict"
)

// The lines that the model knows: a defect, a text with a character that changes how it is displayed, which
// only a person may let pass, and the protection that no change may remove.
const (
	defect     = "unsafe()"
	held       = "quiet() // a\u202eb"
	protection = "checkRights()"
)

// price is what one session of a model costs, in US dollars.
const price = 0.25

// model objects to each defect that it sees and to nothing else, suggests one spelling, and fixes nothing.
type model struct {
	// stern makes the model object to anything.
	stern *atomic.Bool
	// asked counts the model's sessions.
	asked *atomic.Int64
	// shown collects the paths that the model saw.
	shown *sync.Map
}

// patchRow matches the header with a file's name above its diff, and a changed line with its number.
var patchRow = regexp.MustCompile(`(?m)^(?:=== (.+) \([a-z-]+, .+|( *\d+) +([+-])(.*))$`)

func (m model) ask(_ context.Context, request engine.Request, prompt string) (engine.Result, error) {
	started := time.Now()
	if text, ok := reading.Upheld(prompt); ok {
		return engine.Result{Text: text, Started: started}, nil
	}
	m.asked.Add(1)
	if request.Role == engine.Author {
		return engine.Result{Text: "It cannot be done.", Started: started, CostUSD: price}, nil
	}
	reading.Patches(request, prompt)
	a := reading.Review(prompt, "Read.", wrong(prompt)...)
	for _, path := range a.Files {
		m.shown.Store(path, true)
	}
	if m.stern.Load() {
		a.Findings = append(a.Findings, objection("It is not wanted."))
	}
	v := verdict.Approve
	if slices.ContainsFunc(a.Findings, verdict.Finding.Blocks) {
		v = verdict.RequestChanges
	}
	return engine.Result{Text: reading.Answer(prompt, a, v), Started: started, Duration: time.Since(started), CostUSD: price}, nil
}

// wrong returns findings about the lines in a prompt's patches that no change may have, an added defect or a
// removed protection, and about the misspelt line.
func wrong(prompt string) []verdict.Finding {
	var all []verdict.Finding
	read := map[string]bool{} // several files may share a patch
	for _, patch := range reading.Listed(prompt) {
		if read[patch] {
			continue
		}
		read[patch] = true
		data, err := os.ReadFile(patch)
		if err != nil {
			return []verdict.Finding{objection("A patch cannot be read.")}
		}
		path := ""
		for _, row := range patchRow.FindAllStringSubmatch(string(data), -1) {
			if row[1] != "" {
				path = row[1]
				continue
			}
			number, _ := strconv.Atoi(strings.TrimSpace(row[2])) // consists of digits
			sign, text := row[3], row[4]
			f := objection("It breaks: " + strings.TrimSpace(text))
			switch {
			case sign == "-" && strings.Contains(text, protection):
				all = append(all, f)
			case sign == "+" && strings.Contains(text, defect):
				f.Path, f.Line, f.Quote = path, number, text
				all = append(all, f)
			case sign == "+":
				if f, ok := nit(path, text, number); ok {
					all = append(all, f)
				}
			}
		}
	}
	return all
}

func objection(claim string) verdict.Finding {
	return verdict.Finding{Dimension: verdict.Security, Severity: verdict.Critical, Rule: "security/S3", Claim: claim, Why: "It breaks.",
		Verify: "Read it."}
}
