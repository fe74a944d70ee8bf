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
	"golang.org/x/sync/errgroup"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/impact"
	"touchstone/agent/reviewer/change"
	"touchstone/agent/reviewer/hidden"
	"touchstone/guidelines"
	"touchstone/worktree/erase"
)

// Examiner examines changes with one engine and one set of guidelines. It knows nothing of GitHub and has no
// effects outside its temporary files. Its fields are set once; its methods are safe for concurrent use.
type Examiner struct {
	Engine     engine.Engine
	Guidelines guidelines.Set
	// Pages is the URL below which people see the documents of Guidelines; empty if there is none.
	Pages string
	// Layer returns the texts of an organization's own guideline documents, by name. They override
	// Guidelines, and the repository's documents override them. Nil means none.
	Layer func(context.Context) (map[string]string, error)
	// Settings are the source of a session's model and time limits. Timeout is per part of the change.
	Settings config.EngineSource
	// TempDir is the directory for the files that a session reads besides the worktree; empty means the
	// system's own. The files are removed afterwards.
	TempDir string
}

// Prepared is a change made ready for a session: everything that can be known about it without a model.
type Prepared struct {
	material
	scan     scan
	examiner *Examiner
	tokens   int    // an estimate of how much there is to read
	tempDir  string // of the files written for the session
}

// Prepare makes a change ready for a session. Close removes the files that it wrote.
func (e *Examiner) Prepare(ctx context.Context, s Subject) (_ *Prepared, err error) {
	tempDir, err := os.MkdirTemp(e.TempDir, "review-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	s.Head = cmp.Or(s.Head, s.Diff.Head)
	p := &Prepared{examiner: e, tempDir: tempDir}
	defer func() {
		if err != nil {
			p.Close(ctx)
		}
	}()
	// The three steps are independent of each other.
	var sheet sheet
	work, inWork := errgroup.WithContext(ctx)
	work.Go(func() error { sheet = draw(inWork, s.Checkout); return nil })
	work.Go(func() (err error) { p.scan, err = scanned(inWork, s); return err })
	work.Go(func() (err error) { p.material, err = e.gather(inWork, s, tempDir); return err })
	if err := work.Wait(); err != nil {
		return nil, err
	}
	p.suspicions = p.scan.evidence
	p.scan.found = slices.Concat(contradictory(s.Texts, p.criteria), stale(s.Diff, p.criteria, p.guides), unearned(p.criteria, p.guides),
		long(s.Dir, p.criteria, p.understood.Files))
	if p.sheet, p.quoted, err = writeImpact(ctx, sheet, tempDir); err != nil {
		return nil, err
	}
	if p.tokens = p.reading(); p.tokens > window/2 {
		zerolog.Ctx(ctx).Warn().Int("tokens", p.tokens).Int("window",
			window).Msg("what the session has to read fills more than half of its context window")
	}
	return p, nil
}

// gather reads the criteria for a change, sorts and weighs the change, and writes its patches to dir.
func (e *Examiner) gather(ctx context.Context, s Subject, dir string) (m material, err error) {
	m = material{Subject: s, quoter: quoter{fencePrefix + rand.Text()}}
	if m.criteria, err = e.criteria(ctx, s); err != nil {
		return m, err
	}
	if m.guides, err = readGuides(ctx, s.Checkout); err != nil {
		return m, err
	}
	if m.tripped, err = pastOf(ctx, s.Rules, m.criteria); err != nil {
		return m, err
	}
	review := m.criteria.settings.Review
	m.understood, err = change.Understand(ctx, change.Source{
		Diff: s.Diff, Checkout: s.Dir, Dir: dir, Sensitive: review.Sensitive.Scope, Skip: review.Skip.Scope,
	})
	return m, err
}

const (
	// window is the smallest context window of the models that review, in tokens. perToken is about how many
	// bytes of code and prose make one token.
	window   = 200_000
	perToken = 4
)

// reading estimates, in tokens, the prompts and the patches that the session must read. It leaves out what
// the session looks up besides.
func (m material) reading() int {
	bytes := len(m.Instructions())
	for _, prompt := range m.Prompts() {
		bytes += len(prompt.String())
	}
	for _, f := range m.understood.Files {
		bytes += f.Size()
	}
	return bytes / perToken
}

// sheet is an impact sheet, or the error why there is none.
type sheet struct {
	impact.Sheet
	err error
}

// draw makes the impact sheet.
func draw(ctx context.Context, c Checkout) sheet {
	made, err := impact.Make(ctx, impact.Source{Diff: c.Diff, Files: c.Files, Index: c.Index})
	return sheet{made, err}
}

// writeImpact writes the impact sheet next to the patches and returns its name, and the files of which it shows
// code. A review does not need a sheet: if none could be made, the name is empty and the session searches by
// itself.
func writeImpact(ctx context.Context, sheet sheet, dir string) (name string, quoted []string, err error) {
	if sheet.err != nil {
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		zerolog.Ctx(ctx).Warn().Err(sheet.err).Msg("the session gets no list of who uses what the change touches")
		return "", nil, nil
	}
	name = filepath.Join(dir, "impact.md")
	text := sheet.Text(change.Spell, func(text string) string { return hidden.Reveal(strings.ToValidUTF8(text, "\uFFFD")) })
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return "", nil, fmt.Errorf("write down who uses what the change touches: %w", err)
	}
	for _, c := range slices.Concat(sheet.Called, sheet.Around) {
		if strings.Contains(text, "("+change.Spell(c.Path)+")\n") {
			quoted = append(quoted, c.Path)
		}
	}
	return name, quoted, nil
}

// Close removes the files that were written for the session.
func (p *Prepared) Close(ctx context.Context) {
	if err := erase.All(p.tempDir); err != nil {
		// A leftover directory is no reason to lose the review.
		zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot remove the session's files")
	}
}
