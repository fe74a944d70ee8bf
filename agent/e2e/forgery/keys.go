package forgery

import (
	"crypto/ed25519"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/trust"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// rekey gives the reviewer's machine another key.
func (s *scene) rekey() {
	a := s.agent(decide.Reviewer, arena.Judge)
	_, key, err := ed25519.GenerateKey(nil)
	steps.Must(err)
	a.Key, a.Reviewer.Key = key, key
}

// listKey lists the key of the reviewer's machine in the settings of the author's machine.
func (s *scene) listKey() {
	a := s.agent(decide.Reviewer, arena.Judge)
	s.agent(decide.Author, arena.Author).Trust.Settings = func() (map[string][]string, time.Time) {
		return map[string][]string{arena.Judge: {trust.Public(a.Key)}}, time.Time{}
	}
}

// uncalledTo reports whether the pull request was merged, or no comment called a person with this text.
func uncalledTo(why string) func(*scene) bool {
	return func(s *scene) bool {
		p := s.Pull()
		called := slices.ContainsFunc(s.Comments(), func(c arena.Post) bool { return strings.Contains(c.Body, why) })
		return p.Merged || !called || !p.Labelled("needs-human")
	}
}

// badInput returns cases with unexpected keys and clocks. With a wrong key nothing is merged, and a person is
// called and told what to do; a wrong clock must not matter.
func badInput() []Case {
	return []Case{
		{Name: "reviewer: another key: in the place of the one that is known", unapproved: true,
			harmed: uncalledTo("does not know as one of judge's; if it is, list all keys of that login"), act: func(s *scene) {
				s.stern.Store(true)
				s.Comment(arena.Person, "/touchstone review")
				s.review()
				s.merge() // now the author's agent knows the key
				s.stern.Store(false)
				s.rekey()
				s.Comment(arena.Person, "/touchstone review")
			}},
		{Name: "reviewer: another key: than the settings list", unapproved: true, harmed: uncalledTo("list all keys of that login"),
			stage: stage{settings: func(cfg *config.Config) {
				cfg.Keys = map[string][]string{arena.Judge: {strings.Repeat("ab", ed25519.PublicKeySize)}}
			}}},
		{Name: "reviewer: no key: where the settings list one", unapproved: true, harmed: uncalledTo("its record is not signed"),
			stage: stage{unreviewed: true, settings: func(cfg *config.Config) {
				cfg.Keys = map[string][]string{arena.Judge: {hex.EncodeToString(make([]byte, ed25519.PublicKeySize))}}
			}, late: func(s *scene) {
				a := s.agent(decide.Reviewer, arena.Judge)
				a.Key, a.Reviewer.Key = nil, nil
				s.review()
			}}},
		{Name: "legitimate: GitHub's clock is two days ahead", Legitimate: true,
			stage: stage{early: func(s *scene) { s.Sim.Advance(48 * time.Hour) }}},
		{Name: "legitimate: GitHub's clock is two days behind", Legitimate: true,
			stage: stage{early: func(s *scene) { s.Sim.Advance(-48 * time.Hour) }}},
	}
}
