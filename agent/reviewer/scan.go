package reviewer

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"touchstone/agent/quality"
	"touchstone/agent/reviewer/submodule"
	"touchstone/agent/reviewer/suspect"
	"touchstone/verdict"
	"touchstone/verdict/guard"
)

const (
	// maxPlaces bounds the places that a hold names.
	maxPlaces = 5
	// maxHoldDetail bounds the text of one hold, in bytes.
	maxHoldDetail = 600
	// maxDoubt bounds the text of one piece of evidence of the guard, in bytes: two quotations and the names of many places.
	maxDoubt = 1600
	// maxHoldPlaces is how many of these bytes are reserved for further places.
	maxHoldPlaces = 250
)

// scan is what code finds in a change without a model.
type scan struct {
	// holds are the reasons why only a person can let the change pass.
	holds []verdict.Hold
	// evidence is what code suspects; the session must answer it.
	evidence []verdict.Evidence
	// found are definite findings.
	found []verdict.Finding
}

// scanned is what code finds in a change, except for the findings of rules that code checks itself.
func scanned(ctx context.Context, s Subject) (scan, error) {
	lowered, doubted, err := s.qualityBar(ctx, s.Texts)
	if err != nil {
		return scan{}, err
	}
	binaries, unread, opaque, err := s.binaries(ctx)
	if err != nil {
		return scan{}, err
	}
	elsewhere, moved, err := s.submodules(ctx)
	if err != nil {
		return scan{}, err
	}
	held, suspected := suspect.Look(append(s.texts(), binaries...))
	return scan{holds: slices.Concat(lowered, held, elsewhere, unread),
		evidence: grouped(slices.Concat(doubted, suspected, opaque, moved))}, nil
}

// speaks reports whether code found text in the change that is hidden, forged, or reads as if it addressed
// the reviewer.
func (s scan) speaks() bool {
	return slices.ContainsFunc(s.holds, func(h verdict.Hold) bool {
		return h.Kind == verdict.HiddenText || h.Kind == verdict.Manipulation
	}) || slices.ContainsFunc(s.evidence, func(e verdict.Evidence) bool {
		return e.Rule == addressRule && e.Kind != suspect.Data && e.Kind != suspect.Submodule
	})
}

// addressRule is the row behind what code suspects of texts.
const addressRule = "security/S14"

// maxBinary bounds the binary files that are searched, in bytes.
const maxBinary = 32 << 20

// binaries are the texts whose lines git does not show but which the session can open. Files that no session
// can read need a person: files that are too large, and programs. Of documents and of the data of tests, the session
// must say what reads them, until they move to where they need a person.
func (c Checkout) binaries(ctx context.Context) (texts []suspect.Text, unread []verdict.Hold, opaque []verdict.Evidence, err error) {
	wanted, executable, before := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, f := range c.Diff.Files {
		executable[f.Path], before[f.Path] = f.NewMode == "100755", f.OldMode == "100755"
		wanted[f.Path] = f.Binary || (f.Status == "renamed" || f.Status == "mode-changed") && f.OldBlob == f.NewBlob &&
			(executable[f.Path] && !before[f.Path] || suspect.Exposed(f.OldPath, f.Path))
	}
	sides, err := c.Files.Sides(ctx, c.Diff, func(path string) bool { return wanted[path] }, maxBinary)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("look into binary files: %w", err)
	}
	for _, side := range sides {
		switch {
		case side.Path == "":
		case side.Unread && side.After == nil:
			unread = append(unread, suspect.Unread(side.Path, maxBinary))
		default:
			texts = append(texts, suspect.Binary(side.Path, side.Before, side.After)...)
			held, suspected := suspect.Opaque(side.Path, side.After, executable[side.Path])
			if bytes.Equal(side.Before, side.After) { // what moved counts where it may do more than before
				was, known := suspect.Opaque(side.OldPath, side.Before, before[side.Path])
				if len(was) > 0 || len(held) == 0 && len(suspected) <= len(known) {
					continue
				}
			}
			unread, opaque = append(unread, held...), append(opaque, suspected...)
		}
	}
	return texts, unread, opaque, nil
}

// submodules are the moves of submodules, whose content is elsewhere. They need a person, except for those that are
// certainly ordinary: these the session must answer.
func (c Checkout) submodules(ctx context.Context) (holds []verdict.Hold, evidence []verdict.Evidence, err error) {
	if c.Moved != nil {
		return c.Moved(ctx, c.Diff)
	}
	for _, f := range submodule.All(c.Diff) {
		holds = append(holds, suspect.Elsewhere(f.Path, f.NewBlob, ""))
	}
	return holds, nil, nil
}

// qualityBar is what the guard finds: checks that the change makes easier to pass, and changes that may do
// so.
func (c Checkout) qualityBar(ctx context.Context, said Texts) (holds []verdict.Hold, evidence []verdict.Evidence, err error) {
	sides, err := c.Files.Sides(ctx, c.Diff, guard.Examines, guard.MaxFile)
	if err != nil {
		return nil, nil, fmt.Errorf("read what could lower the quality bar: %w", err)
	}
	change := quality.Change(sides)
	change.Title = said.Title
	if err := guard.Surround(ctx, &change, c.Diff.Base, c.Files); err != nil {
		return nil, nil, err
	}
	found, err := quality.Examine(ctx, change)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range guard.Groups(guard.Holds(found)) {
		holds = append(holds, lowered(g))
	}
	slices.SortStableFunc(found, guard.Finding.ManyFirst)
	for _, f := range found {
		if f.Tier == guard.Evidence {
			evidence = append(evidence, verdict.Evidence{Kind: string(f.Kind), Rule: f.Kind.Row(), Path: f.Path, Line: f.Line,
				Detail: clip(explained(f), maxDoubt)})
		}
	}
	return holds, append(evidence, said.testsLost()...), nil
}

// testsLost is what the latest fix says about tests that no longer run. It is only a claim of the commit's
// author: it adds something to check and takes nothing away.
func (t Texts) testsLost() []verdict.Evidence {
	for _, message := range t.Commits {
		fix, ok := verdict.ParseRepair(message)
		switch {
		case !ok:
		case fix.Tests == "":
			return nil
		default:
			return []verdict.Evidence{{Kind: string(guard.Test), Rule: guard.Test.Row(),
				Detail: clip("The commit of the latest fix claims, by test runs on its author's machine that nobody else has checked, that of what "+
					"passed on the base there is: "+fix.Tests, maxHoldDetail)}}
		}
	}
	return nil
}

// explained is the text of a guard's finding, with the values that it compares.
func explained(f guard.Finding) string {
	if f.Before == "" && f.After == "" {
		return f.Message()
	}
	return strings.TrimSpace(f.Why + fmt.Sprintf(" Before: %s After: %s ", orNothing(f.Before), orNothing(f.After)) + f.Others)
}

// lowered is one hold for all places of one kind.
func lowered(g guard.Group) verdict.Hold {
	first := g.Findings[0]
	detail := explained(first)
	var places []string
	for _, f := range g.Findings[1:min(len(g.Findings), maxPlaces)] {
		places = append(places, fmt.Sprintf("%s:%d", verdict.OneLine(f.Path), f.Line))
	}
	if len(places) > 0 {
		detail = clip(detail, maxHoldDetail-maxHoldPlaces) + " Also at " + strings.Join(places, ", ")
	}
	if more := len(g.Findings) - maxPlaces; more > 0 {
		detail += fmt.Sprintf(" and %d more", more)
	}
	return verdict.Hold{Kind: verdict.QualityBar, Rule: g.Kind.Row(), Path: first.Path, Line: first.Line, Detail: clip(detail, maxHoldDetail)}
}

// orNothing shows a line of code inside a sentence.
func orNothing(line string) string {
	if line = verdict.OneLine(line); line == "" {
		return "nothing."
	}
	return guard.Code(line) + "."
}

// texts are all texts by strangers that the session may read.
func (s Subject) texts() []suspect.Text {
	all := []suspect.Text{
		{Form: suspect.Name, What: "the title", Text: s.Title}, {Form: suspect.Markdown, What: "the description", Text: s.Body},
		{Form: suspect.Name, What: "the branch's name", Text: s.Branch},
	}
	for _, message := range s.Commits {
		all = append(all, suspect.Text{Form: suspect.Prose, What: "a commit message", Text: message})
	}
	for _, s := range s.Said {
		all = append(all, suspect.Text{Form: suspect.Markdown, What: "the text of " + s.What, Text: s.Text})
	}
	for _, t := range s.Threads {
		for _, r := range t.Replies {
			all = append(all, suspect.Text{Form: suspect.Markdown, What: "a reply by " + r.What, Text: r.Text})
		}
	}
	for _, r := range s.Reported {
		all = append(all, suspect.Text{Form: suspect.Name, What: "a check's name", Text: r.What},
			suspect.Text{Form: suspect.Output, What: r.What, Text: r.Text})
	}
	// This includes files that are left out of the review: the session can open them.
	for _, f := range s.Diff.Files {
		all = append(all, suspect.Added(f.Path, f.Patch)...)
		if f.Status == "renamed" {
			all = append(all, suspect.Text{Form: suspect.Name, What: "a file's former name", Path: f.Path, Text: f.OldPath})
		}
	}
	return all
}
