package forgery

import (
	"strings"

	"touchstone/agent/e2e/arena"
	"touchstone/verdict"
	"touchstone/worktree/steps"
)

// The line for which the model has a nit, and its suggestion.
const (
	misspelt = "fine() // raeds"
	spelt    = "fine() // reads"
)

// nitty is a stage in which the reviewer approves the head with a nit.
var nitty = stage{text: misspelt}

// unread reports whether the merged change was never read by a session: the approval with the nit took the
// first session.
func unread(s *scene) bool {
	return s.Pull().Merged && s.sessions.Load() < 2
}

// brought reports whether main has the defect.
func brought(s *scene) bool {
	return strings.Contains(s.git("show", "refs/heads/main:"+file), defect)
}

// nits returns the attacks on suggested nits: an approval carries over to the head that applies its nits.
func nits() []Case {
	applied := source(spelt)
	all := []Case{
		{Name: "legitimate: a nit is applied", Legitimate: true, stage: nitty},
		{Name: "legitimate: a nit is applied by its author", Legitimate: true, stage: nitty, act: pushes(arena.Author, applied)},
		{Name: "author: a nit's edit: on another parent, a fix dropped", stage: nitty, harmed: dropped, act: reparented},
		{Name: "author: a nit's edit: on the same tree by another commit", stage: nitty, harmed: unread, act: amended},
		{Name: "author: a nit's edit: with another file's mode", stage: nitty, harmed: unread, act: func(s *scene) {
			head := s.head()
			tree := s.tree(head, map[string]string{file: applied})
			tree = s.index(tree, "--cacheinfo", executable+","+s.rev(head+":"+guard)+","+guard)
			s.Move(arena.Author, branch, s.make(tree, 1, head))
		}},
	}
	for _, login := range []string{arena.Author, arena.Person, maintainer} {
		for name, text := range map[string]string{
			"and one byte": applied + "\n", "but one byte": strings.TrimSuffix(applied, "\n"), "by another letter": source("fine() // roads"),
		} {
			all = append(all, Case{Name: login + ": a nit's edit: " + name, stage: nitty, harmed: unread, act: pushes(login, text)})
		}
		all = append(all,
			Case{Name: login + ": a nit's edit: and the defect", stage: nitty, harmed: brought, act: pushes(login, source(spelt, defect))},
			Case{Name: login + ": a nit's edit: in another file besides", stage: nitty, harmed: unread, act: func(s *scene) {
				s.push(login, branch, map[string]string{file: applied, "more.md": "More.\n"})
			}},
			Case{Name: login + ": a nit's edit: forged in the record", stage: nitty, harmed: brought, act: forgesEdit(login, false)},
			Case{Name: login + ": a nit's edit: forged in the record, and pushed", stage: nitty, harmed: brought, act: forgesEdit(login, true)},
			Case{Name: login + ": a nit's edit: a record of one's own", stage: nitty, harmed: brought, act: func(s *scene) {
				s.Submit(login, "COMMENT", s.withEdit())
			}},
			Case{Name: login + ": a nit's edit: another suggestion in its comment", stage: nitty, harmed: brought, act: func(s *scene) {
				s.remark(login, "```suggestion\n\t"+defect+"\n```")
			}})
	}
	return all
}

// pushes makes somebody push a text of the file.
func pushes(login, text string) func(*scene) {
	return func(s *scene) { s.push(login, branch, map[string]string{file: text}) }
}

// reparented puts the nit's edit, without the base's new fix, on top of that base.
func reparented(s *scene) {
	head := s.head()
	s.push(neutral, "main", fixed)
	tree := s.tree(head, map[string]string{file: source(spelt)})
	s.Move(arena.Author, branch, s.make(tree, 1, s.rev("refs/heads/main")))
}

// amended puts the nit's edit on an unapproved commit with the approved tree.
func amended(s *scene) {
	head := s.head()
	again := s.make(s.rev(head+"^{tree}"), 2, s.rev(head+"^"))
	tree := s.tree(head, map[string]string{file: source(spelt)})
	s.Move(arena.Author, branch, s.make(tree, 1, again))
}

// withEdit returns the reviewer's review, changed so that its nit suggests the defect.
func (s *scene) withEdit() string {
	record, err := verdict.ParseRecord(s.ownReview().Body)
	if err != nil || len(record.Edits) != 1 {
		steps.Fail("the approval proposes %+v: %w", record.Edits, err)
	}
	e := record.Edits[0]
	forged, ok := verdict.NewEdit(e.Finding, e.Path, e.First, e.Last, "\t"+defect, []byte(source(misspelt)))
	if !ok {
		steps.Fail("%+v cannot be forged", e)
	}
	record.Edits[0] = forged
	seal := steps.Got(record.Seal(verdict.Signer{}))
	return "Fine.\n\n" + seal
}

// forgesEdit makes somebody edit the reviewer's review, and optionally push its new suggestion.
func forgesEdit(login string, push bool) func(*scene) {
	return func(s *scene) {
		s.EditReview(login, s.ownReview().ID, s.withEdit())
		if push {
			s.push(login, branch, map[string]string{file: source(defect)})
		}
	}
}

// nit returns the model's finding about a line of a file; ok reports whether the line is the misspelt one.
func nit(path, line string, number int) (f verdict.Finding, ok bool) {
	return verdict.Finding{
		Dimension: verdict.Doc, Severity: verdict.Nit, Rule: "doc/D4", Path: path, Line: number, Quote: line, Claim: "A word is misspelt.",
		Why: "It is hard to read.", Suggestion: strings.Replace(line, misspelt, spelt, 1), Verify: "Read it.",
	}, strings.Contains(line, misspelt)
}
