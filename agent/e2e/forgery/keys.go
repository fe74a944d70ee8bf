package forgery

import (
	"crypto/ed25519"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/trust"
	"touchstone/verdict/decide"
)

// rekey gives the reviewer's machine another key.
func (s *scene) rekey() error {
	a, err := s.agent(decide.Reviewer, arena.Judge)
	if err == nil {
		_, a.Key, err = ed25519.GenerateKey(nil)
		a.Reviewer.Key = a.Key
	}
	return err
}

// listKey lists the key of the reviewer's machine in the settings of the author's machine.
func (s *scene) listKey() error {
	a, err := s.agent(decide.Reviewer, arena.Judge)
	if err != nil {
		return err
	}
	author, err := s.agent(decide.Author, arena.Author)
	if err != nil {
		return err
	}
	author.Trust.Settings = func() (map[string][]string, time.Time) {
		return map[string][]string{arena.Judge: {trust.Public(a.Key)}}, time.Time{}
	}
	return nil
}

// uncalledTo reports whether the pull request was merged, or no comment called a person with this text.
func uncalledTo(why string) func(*scene) (bool, error) {
	return func(s *scene) (bool, error) {
		p, err := s.pull()
		if err != nil || p.Merged {
			return p.Merged, err
		}
		var comments []struct{ Body string }
		err = s.call(arena.Owner, http.MethodGet, s.issues("comments"), nil, &comments)
		for _, c := range comments {
			if p.Labelled("needs-human") && strings.Contains(c.Body, why) {
				return false, err
			}
		}
		return true, err
	}
}

// badInput returns cases with unexpected keys and clocks. With a wrong key nothing is merged, and a person is
// called and told what to do; a wrong clock must not matter.
func badInput() []Case {
	return []Case{
		{Name: "reviewer: another key: in the place of the one that is known", unapproved: true,
			harmed: uncalledTo("does not know as one of judge's; if it is, list all keys of that login"), act: func(s *scene) error {
				s.stern.Store(true)
				_, err := s.comment(arena.Person, "/touchstone review")
				err = s.then(err, s.review, s.merge) // now the author's agent knows the key
				s.stern.Store(false)
				return s.then(err, s.rekey, func() error {
					_, err := s.comment(arena.Person, "/touchstone review")
					return err
				})
			}},
		{Name: "reviewer: another key: than the settings list", unapproved: true, harmed: uncalledTo("list all keys of that login"),
			stage: stage{settings: func(cfg *config.Config) {
				cfg.Keys = map[string][]string{arena.Judge: {strings.Repeat("ab", ed25519.PublicKeySize)}}
			}}},
		{Name: "reviewer: no key: where the settings list one", unapproved: true, harmed: uncalledTo("its record is not signed"),
			stage: stage{unreviewed: true, settings: func(cfg *config.Config) {
				cfg.Keys = map[string][]string{arena.Judge: {hex.EncodeToString(make([]byte, ed25519.PublicKeySize))}}
			}, late: func(s *scene) error {
				a, err := s.agent(decide.Reviewer, arena.Judge)
				if err == nil {
					a.Key, a.Reviewer.Key = nil, nil
				}
				return s.then(err, s.review)
			}}},
		{Name: "legitimate: GitHub's clock is two days ahead", Legitimate: true, stage: stage{early: func(s *scene) error {
			s.Sim.Advance(48 * time.Hour)
			return nil
		}}},
		{Name: "legitimate: GitHub's clock is two days behind", Legitimate: true, stage: stage{early: func(s *scene) error {
			s.Sim.Advance(-48 * time.Hour)
			return nil
		}}},
	}
}
