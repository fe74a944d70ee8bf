package forgery

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/agent/audit"
	"touchstone/agent/e2e/arena"
	"touchstone/agent/forge"
	"touchstone/agent/worker"

	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// reviewsOf returns the reviews of a login, oldest first.
func (s *scene) reviewsOf(login string) []arena.Post {
	return slices.DeleteFunc(s.Reviews(), func(p arena.Post) bool { return p.User.Login != login })
}

// inspect determines the result of the case.
func (s *scene) inspect(result *Result) {
	if result.Case.moved != nil {
		s.readFrom(s.Bare(s.Ref.Repo).Dir) // a transfer does not move it on disk
		s.Ref.Repo = result.Case.moved(s.Ref.Repo)
		s.settle() // the agents are told the new name, as they demand
	}
	p := s.Pull()
	harmed := p.Merged && !result.Case.Legitimate
	if result.Case.harmed != nil {
		harmed = result.Case.harmed(s)
	}
	result.Merged, result.HeldUp = harmed, result.Case.Legitimate && !p.Merged
	result.Misled = append(s.untruths(p, s.why(), result.Case), s.statusLies(result.Case)...)
}

// statusLies returns the untruths in the commit statuses of the agents that still look. At rest a status shows
// the current decision, and success only if a session approves the head.
func (s *scene) statusLies(c Case) (wrong []string) {
	for login, a := range s.agents {
		if a.Role == decide.Reviewer && (s.stage.unreviewed || s.away) {
			continue
		}
		pr, action, err := a.Look(s.Ctx, s.Ref)
		if err != nil || action.Status == (decide.Status{}) {
			s.note("  %s tells nothing: %v", login, err)
			continue
		}
		name := map[decide.Role]string{decide.Reviewer: forge.ReviewContext, decide.Author: forge.FixContext}[a.Role]
		now := forge.Check{State: "missing"}
		for _, status := range pr.Statuses {
			if status.Name == name {
				now = status
			}
		}
		if by := now.By.Login; by != "" && by != login && now.State != forge.CheckSuccess {
			continue // a person's own statement, under that person's name
		}
		if want := forge.OneLine(action.Status.Text); string(now.State) != string(action.Status.Signal) || now.Summary != want {
			wrong = append(wrong, fmt.Sprintf("%s is %s, %q by %s, and %s decides %s: %s, %q", name, now.State, now.Summary, now.By.Login, login,
				action.Kind, action.Status.Signal, want))
		}
		if name == forge.ReviewContext && now.State == forge.CheckSuccess && !c.Legitimate && !s.approvable(c) {
			wrong = append(wrong, fmt.Sprintf("%s succeeds, and no reviewer's session approves the head", name))
		}
	}
	return wrong
}

// approvable reports whether a session of the reviewer approves the head, or may have approved it.
func (s *scene) approvable(c Case) bool {
	return s.stage.text != defect && s.stage.text != held && !s.stage.unreviewed && !c.unapproved
}

// why returns the account that `touchstone why` gives.
func (s *scene) why() audit.Chain {
	client := steps.Got(s.Client(arena.Owner))
	a := s.agent(decide.Author, arena.Author)
	cfg := a.Config()
	chain, err := audit.Gather(s.Ctx, client, s.Ref, audit.Settings{
		Reviewers: cfg.Reviewers, Trust: a.Trust, Rights: cfg.Rights, State: worker.Onlooker{Read: client, Config: cfg, Trust: a.Trust}.State,
	})
	steps.Must(err)
	return chain
}

// nothingMissing is the account's phrase for a pull request that the agents would merge.
const nothingMissing = "nothing that GitHub shows"

// untruths returns what the account says although it is untrue, and what it fails to say.
func (s *scene) untruths(p arena.Pull, chain audit.Chain, c Case) (wrong []string) {
	var text strings.Builder
	steps.Must(chain.Write(&text))
	s.note("%s", strings.TrimSpace(text.String()))
	approvable := s.approvable(c)
	missing := strings.Join(chain.Missing, "; ")
	if !p.Merged && p.State == "open" && (missing == "" || strings.Contains(missing, nothingMissing)) {
		wrong = append(wrong, "`why` says that nothing is missing, and the agents do not merge")
	}
	if paid := float64(s.sessions.Load()) * price; chain.CostUSD+chain.FixCostUSD > paid {
		wrong = append(wrong, fmt.Sprintf("`why` counts %.2f US dollars, and the models took %.2f", chain.CostUSD+chain.FixCostUSD, paid))
	}
	if p.Merged && !c.Legitimate && !approvable && missing == "" {
		wrong = append(wrong, "`why` says that nothing was missing at the merge")
	}
	for _, want := range c.told {
		if !strings.Contains(text.String(), want) {
			wrong = append(wrong, fmt.Sprintf("`why` does not say %q", want))
		}
	}
	if chain.Approved != 0 && !approvable && !c.Legitimate {
		wrong = append(wrong, fmt.Sprintf("`why` says that %.7s was approved, and no reviewer's session approves it", p.Head.SHA))
	}
	return wrong
}
