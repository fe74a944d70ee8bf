package reviewer

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/impact"
	"touchstone/agent/reviewer/change"
	"touchstone/agent/reviewer/hidden"
	"touchstone/guidelines"
	"touchstone/verdict"
)

// Examiner examines changes with one engine and one set of guidelines. It knows
// nothing of GitHub and acts on nothing. Its fields are set once; its methods may
// be called from several goroutines at once.
type Examiner struct {
	Engine     engine.Engine
	Guidelines guidelines.Set
	// Layer gives the texts of an organisation's own guideline documents by their names,
	// which lie between Guidelines and the repository's; nil for none.
	Layer func(context.Context) (map[string]string, error)
	// Settings gives those of the engine that are in force, of which a session takes its
	// model and its bounds in time. Timeout is for each part of the change. Nil leaves all
	// to the engine.
	Settings func() config.Engine
	// TempDir is a directory for the files that a session reads besides the
	// worktree; empty is the system's own. What is put there is removed again.
	TempDir string
}

// Prepared is a change made ready for a session: what can be known of it without
// a model.
type Prepared struct {
	Subject
	// Settings are the repository's.
	Settings config.Repository
	// Version is that of the guidelines, Rules are those that apply.
	Version string
	Rules   []guidelines.Applied
	// Holds are the reasons found in code why only a person can let the change pass.
	Holds []verdict.Hold
	// Evidence is what code suspects and the session has to answer.
	Evidence []verdict.Evidence
	// Found is what code finds to be wrong.
	Found []verdict.Finding

	examiner   *Examiner
	understood change.Change
	idle       []verdict.Dimension // those of which no row applies
	law        string              // the guidelines, the same for every change
	own        map[string]string   // the texts of the repository's own documents, by name
	guides     []guide
	tripped    map[string]int // by rule: the other changes that broke it
	tokens     int            // an estimate of what there is to read
	tempDir    string
	sheet      string // the file of the impact sheet; empty where it could not be made
	quoter
}

// Prepare gets a change ready. Close removes what it wrote.
func (e *Examiner) Prepare(ctx context.Context, s Subject) (_ *Prepared, err error) {
	tempDir, err := os.MkdirTemp(e.TempDir, "review-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	s.Head = cmp.Or(s.Head, s.Diff.Head)
	p := &Prepared{Subject: s, examiner: e, tempDir: tempDir, quoter: quoter{fencePrefix + rand.Text()}}
	defer func() {
		if err != nil {
			p.Close(ctx)
		}
	}()
	// The sheet needs nothing of what follows, and takes as long.
	drawing, stop := context.WithCancel(ctx)
	drawn := make(chan sheet, 1)
	go func() {
		drawn <- p.draw(drawing)
		close(drawn)
	}()
	defer func() { stop(); <-drawn }()
	if p.Settings, err = settings(ctx, s); err != nil {
		return nil, err
	}
	rules, own, err := e.rules(ctx, s)
	if err != nil {
		return nil, err
	}
	p.Version, p.Rules = rules.Version(), rules.For(s.change())
	p.law, p.own, p.idle = rules.RenderAll(), own, rules.Idle(p.Rules)
	if p.guides, err = readGuides(ctx, s); err != nil {
		return nil, err
	}
	if err := p.askPast(ctx); err != nil {
		return nil, err
	}
	if p.Holds, p.Evidence, err = p.examine(ctx); err != nil {
		return nil, err
	}
	review := p.Settings.Review
	p.understood, err = change.Understand(ctx, change.Source{
		Diff: s.Diff, Checkout: s.Dir, Dir: tempDir, Sensitive: review.Sensitive.Scope, Skip: review.Skip.Scope,
	})
	if err != nil {
		return nil, err
	}
	p.Found = slices.Concat(p.contradictory(), p.stale(), p.unearned(), p.long())
	if err := p.writeImpact(ctx, <-drawn); err != nil {
		return nil, err
	}
	if p.tokens = p.reading(); p.tokens > window/2 {
		zerolog.Ctx(ctx).Warn().Int("tokens", p.tokens).Int("window",
			window).Msg("what the session has to read fills more than half of its context window")
	}
	return p, nil
}

const (
	// window is what the models that review hold at least, in tokens, and perToken how
	// many bytes of code and prose are about one of them.
	window   = 200_000
	perToken = 4
)

// reading estimates, in tokens, what the session is told and has to read of the change.
// What it looks up besides is not in it.
func (p *Prepared) reading() int {
	bytes := len(p.Instructions())
	for _, prompt := range p.Prompts() {
		bytes += len(prompt.String())
	}
	for _, f := range p.understood.Files {
		bytes += f.Size()
	}
	return bytes / perToken
}

// sheet is an impact sheet, or why there is none.
type sheet struct {
	impact.Sheet
	err error
}

// draw makes the impact sheet.
func (p *Prepared) draw(ctx context.Context) sheet {
	s, err := impact.Make(ctx, impact.Source{Diff: p.Diff, Files: p.Files, Index: p.Index})
	return sheet{s, err}
}

// writeImpact writes the impact sheet beside the patches. A review does not need one: where
// none can be made, the session looks for itself.
func (p *Prepared) writeImpact(ctx context.Context, sheet sheet) error {
	if sheet.err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		zerolog.Ctx(ctx).Warn().Err(sheet.err).Msg("the session gets no list of who uses what the change touches")
		return nil
	}
	p.sheet = filepath.Join(p.tempDir, "impact.md")
	text := sheet.Text(change.Spell, func(text string) string { return hidden.Reveal(strings.ToValidUTF8(text, "\uFFFD")) })
	if err := os.WriteFile(p.sheet, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write down who uses what the change touches: %w", err)
	}
	return nil
}

// Close removes the files that were written for the session.
func (p *Prepared) Close(ctx context.Context) {
	if err := os.RemoveAll(p.tempDir); err != nil {
		// The review is worth more than a directory left behind.
		zerolog.Ctx(ctx).Warn().Err(err).Msg("the session's files could not be removed")
	}
}
