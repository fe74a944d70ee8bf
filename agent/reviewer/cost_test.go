package reviewer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/engine"
	"touchstone/agent/engine/claude"
	"touchstone/agent/engine/enginetest"
	"touchstone/agent/reviewer"
	"touchstone/guidelines"
	"touchstone/verdict"
	"touchstone/worktree"
)

// costFiles and costLines make a change of some 20,000 tokens.
const (
	costFiles = 8
	costLines = 200
)

// BenchmarkCost compares what one session over nine dimensions is billed with nine
// sessions of one dimension each, over the same change with the same prompt. The
// CLI is the real one; the provider's answers and its count are the script's: every
// patch is read, the code is searched once for each dimension, and each dimension
// takes the same words.
func BenchmarkCost(b *testing.B) {
	var script []enginetest.Turn
	var closing string
	step := 0
	provider := enginetest.NewThinker(b, func(_ int, call enginetest.Call) enginetest.Turn {
		if m := runLine.FindSubmatch(call.Body); m != nil {
			closing = string(m[1])
		}
		turn := script[min(step, len(script)-1)]
		step++
		for i := range turn.Text {
			turn.Text[i] = strings.ReplaceAll(turn.Text[i], "NONCE", closing)
		}
		return turn
	})
	e, p := costly(b, provider)
	prompt := p.Prompts()[0].String()
	var one, nine float64
	for b.Loop() {
		before := len(provider.Calls())
		script, step = walkthrough(prompt, verdict.Dimensions()...), 0
		if x, err := p.Examine(b.Context(), nil, verdict.Allowance{}); err != nil || x.Judgement.Verdict != verdict.Approve {
			b.Fatalf("%+v, %v", x.Judgement, err)
		}
		calls := provider.Calls()
		if read := strings.Count(string(calls[len(calls)-1].Body), "of ordinary length"); read < costFiles*costLines {
			b.Fatalf("the session read %d lines of the change", read)
		}
		one = price(enginetest.Sum(calls[before:]))

		before = len(provider.Calls())
		for _, d := range verdict.Dimensions() {
			script, step = walkthrough(prompt, d), 0
			alone := p.Prompts()[0].String() + fmt.Sprintf("\nWalk [%s] alone.\n", d)
			if _, err := enginetest.Run(b.Context(), e,
				engine.Request{Role: engine.Reviewer, Dir: p.Dir, ReadDirs: []string{patchDir(prompt)}, Instructions: p.Instructions()},
				alone); err != nil {
				b.Fatal(err)
			}
		}
		nine = price(enginetest.Sum(provider.Calls()[before:]))
	}
	b.ReportMetric(one/nine, "of-nine-sessions")
	b.ReportMetric(float64(len(prompt)/4), "prompt-tokens")
	if one/nine > 0.35 {
		b.Errorf("one session costs %.2f of nine", one/nine)
	}
}

var (
	runLine   = regexp.MustCompile(`<!-- RUN:([A-Z0-9]+) -->`)
	patchLine = regexp.MustCompile(`(?m)^  patch: (.+)$`)
)

// walkthrough is the script of a session that reads every patch, searches the code once
// for each of the dimensions, walks them and approves.
func walkthrough(prompt string, dimensions ...verdict.Dimension) []enginetest.Turn {
	var script []enginetest.Turn
	for _, m := range patchLine.FindAllStringSubmatch(prompt, -1) {
		script = append(script, enginetest.Turn{Tool: "Read", Input: map[string]any{"file_path": m[1]}})
	}
	answer := reading.Review(prompt, "Read.")
	answer.Dimensions = nil
	var walk strings.Builder
	for _, d := range dimensions {
		script = append(script, enginetest.Turn{Tool: "Grep", Input: map[string]any{"pattern": "use\\(1, 1\\)"}})
		answer.Dimensions = append(answer.Dimensions, verdict.Examined{Dimension: d, Examined: "the patches and their callers"})
		fmt.Fprintf(&walk, "## [%s]\n\n%s\n\n", d, strings.Repeat("It was looked at closely. ", 8))
	}
	return append(script, enginetest.Turn{Text: []string{walk.String() + reading.Answer(prompt, answer, verdict.Approve)}})
}

// patchDir is where the patches of a prompt are.
func patchDir(prompt string) string { return filepath.Dir(patchLine.FindStringSubmatch(prompt)[1]) }

// price weighs tokens as providers do: reading the cache costs a tenth of input,
// writing it a quarter more, output five times as much.
func price(u verdict.Usage) float64 {
	return float64(u.Input) + 1.25*float64(u.CacheWrite) + 0.1*float64(u.CacheRead) + 5*float64(u.Output)
}

// costly is the change, prepared, and the engine that reviews it.
func costly(b *testing.B, provider *enginetest.Provider) (engine.Engine, *reviewer.Prepared) {
	b.Helper()
	e := &claude.Engine{
		Command: []string{enginetest.CLI(b, "claude")}, TempDir: b.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "ANTHROPIC_API_KEY=a key", "ANTHROPIC_BASE_URL=" + provider.URL},
	}
	files := map[string]string{}
	for i := range costFiles {
		var text strings.Builder
		for line := range costLines {
			fmt.Fprintf(&text, "\tuse(%d, %d) // a line of ordinary length\n", i, line)
		}
		files[fmt.Sprintf("store/file%d.go", i)] = text.String()
	}
	g := loopback.New(b, plain)
	g.Commit("topic", "Add code", files)
	pr := g.Read(loopback.Judge, g.Open("topic"))
	rules, err := guidelines.Default()
	if err != nil {
		b.Fatal(err)
	}
	url, authorization, err := g.Client(loopback.Judge).Remote(b.Context(), pr.Repo)
	if err != nil {
		b.Fatal(err)
	}
	tree, err := g.Worktrees.Acquire(b.Context(), worktree.Request{
		Remote: worktree.Remote{URL: url, Authorization: authorization}, Repo: pr.Repo.String(), Number: pr.Number, Role: "reviewer",
		Head: pr.Head.SHA, HeadRef: fmt.Sprintf("refs/pull/%d/head", pr.Number), Base: pr.Base.SHA, BaseRef: "refs/heads/" + pr.Base.Name,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = tree.Release() })
	diff, err := tree.Diff(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	examiner := reviewer.Examiner{Engine: e, Guidelines: rules, TempDir: b.TempDir()}
	p, err := examiner.Prepare(b.Context(), reviewer.Subject{Name: "The change", Texts: reviewer.Texts{Title: pr.Title, Body: pr.Body},
		Checkout: reviewer.Checkout{Base: pr.Base.SHA, Diff: diff, Dir: tree.Dir(), Files: tree}, Rounds: reviewer.Rounds{Round: 1}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close(b.Context()) })
	return e, p
}
