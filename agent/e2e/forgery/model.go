package forgery

import (
	"context"
	"encoding/json"
	"fmt"
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

// The lines that the model knows: a defect, a text that is not
// shown as it is, which only a person may let pass, and
// the protection that no change may remove.
const (
	defect     = "unsafe()"
	held       = "quiet() // a\u202eb"
	protection = "checkRights()"
)

// price is what one session of a model costs, in US dollars.
const price = 0.25

// model objects to each defect that it is shown, and to no other, proposes a spelling, and fixes nothing.
type model struct {
	// stern has it object to anything.
	stern *atomic.Bool
	// asked counts its sessions.
	asked *atomic.Int64
	// shown takes the paths that it is told of.
	shown *sync.Map
}

func (model) Name() string { return "model" }

func (model) Probe(context.Context) (engine.Version, error) { return engine.Version{}, nil }

func (m model) Open(_ context.Context, request engine.Request) (engine.Session, error) {
	return session{m, request}, nil
}

type session struct {
	model
	request engine.Request
}

func (session) Close() error { return nil }

var (
	runLine  = regexp.MustCompile(`(?m)^<!-- RUN:\S+ -->$`)
	fileLine = regexp.MustCompile(`(?m)^- (.+) \([a-z-]+ \+\d+ -\d+\)$`)
	// A finding of an earlier round that is not settled.
	earlierLine = regexp.MustCompile(`(?m)^- ([0-9a-f]{8}) (?:open|claimed-fixed|disputed|regressed) \[`)
	// The name of a file stands above its diff, and a changed line has its number in front of it.
	patchRow  = regexp.MustCompile(`(?m)^(?:=== (.+) \([a-z-]+, .+|( *\d+) +([+-])(.*))$`)
	patchLine = regexp.MustCompile(`(?m)^  patch: (.+)$`)
)

func (s session) Ask(_ context.Context, prompt string) (engine.Result, error) {
	started := time.Now()
	if text, ok := reading.Upheld(prompt); ok {
		return engine.Result{Text: text, Started: started}, nil
	}
	s.asked.Add(1)
	reading.Patches(s.request, prompt)
	a := verdict.Answer{Summary: "Read.", Findings: []verdict.Finding{}, Refuted: reading.Refuted(prompt), Gone: reading.Gone(prompt)}
	for _, d := range verdict.Dimensions() {
		a.Dimensions = append(a.Dimensions, verdict.Examined{Dimension: d, Examined: "all of it"})
	}
	_, list, _ := strings.Cut(prompt, "\n# Changed files\n")
	for _, m := range fileLine.FindAllStringSubmatch(list, -1) {
		a.Files = append(a.Files, m[1])
		s.shown.Store(m[1], true)
	}
	for _, m := range earlierLine.FindAllStringSubmatch(prompt, -1) { // what it finds again counts as found
		a.Gone = append(a.Gone, verdict.Gone{ID: m[1], How: "It is not in this change."})
	}
	v := verdict.Approve
	a.Findings = append(a.Findings, wrong(prompt)...)
	if s.stern.Load() {
		a.Findings = append(a.Findings, objection("It is not wanted."))
	}
	if slices.ContainsFunc(a.Findings, verdict.Finding.Blocks) {
		v = verdict.RequestChanges
	}
	answer, err := json.Marshal(a)
	nonce := runLine.FindAllString(prompt, -1)
	if err != nil || len(nonce) == 0 {
		return engine.Result{Text: "It cannot be done.", Started: started, CostUSD: price}, err
	}
	text := fmt.Sprintf("```%s\n%s\n```\n%s\n%s\n", verdict.Fence, answer, nonce[len(nonce)-1], verdict.Marker(v))
	return engine.Result{Text: text, Started: started, Duration: time.Since(started), CostUSD: price}, nil
}

// wrong are findings about the lines of the patches that a prompt lists which no change
// may have, the defect added or the protection removed, and about the misspelt one.
func wrong(prompt string) []verdict.Finding {
	var all []verdict.Finding
	read := map[string]bool{} // several files may share a patch
	for _, m := range patchLine.FindAllStringSubmatch(prompt, -1) {
		if read[m[1]] {
			continue
		}
		read[m[1]] = true
		data, err := os.ReadFile(m[1])
		if err != nil {
			return []verdict.Finding{objection("A patch cannot be read.")}
		}
		path := ""
		for _, row := range patchRow.FindAllStringSubmatch(string(data), -1) {
			if row[1] != "" {
				path = row[1]
				continue
			}
			number, _ := strconv.Atoi(strings.TrimSpace(row[2])) // its digits
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
