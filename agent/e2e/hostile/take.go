package hostile

import (
	"context"

	"touchstone/agent/e2e/arena"
	"touchstone/agent/e2e/reading"
	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/steps"
)

// behaviours returns the model behaviours with which a case runs.
func (c Case) behaviours() []behaviour {
	switch c.family() {
	case "protocol":
		if c.Want == Refused {
			return []behaviour{parrot} // what it repeats is no valid answer
		}
		return []behaviour{obedient, parrot}
	case "unread":
		return []behaviour{attentive}
	case "leak":
		if c.Want == Refused {
			return []behaviour{talkative}
		}
	}
	return []behaviour{obedient}
}

// take takes one case through the whole path, once for each of its model behaviours.
func (r *fixture) take(ctx context.Context, name string, c Case) (result Result) {
	result.Case = c
	for _, b := range c.behaviours() {
		s := r.open(ctx, name+"-"+string(b), c)
		if c.Thread != "" {
			r.discuss(s, c)
		}
		for _, role := range []decide.Role{decide.Reviewer, decide.Author} {
			if err := steps.Try(func() { r.work(s, role, reading.Model(b.ask)) }); err != nil {
				steps.Fail("as a model that is %s: %w", b, err)
			}
		}
		inspect(s, &result)
	}
	return result
}

// discuss makes an honest reviewer find the defect and the author answer it, and then pushes a new head.
func (r *fixture) discuss(s *arena.Subject, c Case) {
	r.work(s, decide.Reviewer, reading.Model(honest.ask))
	remarks := s.Remarks()
	if len(remarks) != 1 {
		steps.Fail("%d comments by an honest reviewer, want 1", len(remarks))
	}
	s.Reply(arena.Author, remarks[0].ID, c.Thread)
	steps.Got(r.Sim.Commit(s.Ctx, arena.Author, s.Ref.Repo.String(), s.Pull().Head.Ref, "Explain the search",
		map[string]string{"docs/search.md": "# Search\n\nIt is fast.\n"}))
}

// work makes one agent look and act until there is nothing left to do. It skips fixes, which would only lead to
// another review.
func (r *fixture) work(s *arena.Subject, role decide.Role, m reading.Model) {
	agent := steps.Got(r.Agent(role, arena.Login(role), "machine", m))
	const enough = 6
	for range enough {
		steps.Must(r.Sim.Settle(s.Ctx))
		pr, action, err := agent.Look(s.Ctx, s.Ref)
		steps.Must(err)
		switch action.Kind {
		case decide.Wait, decide.Skip, decide.Done, decide.Fix:
			return
		}
		if _, err := agent.Act(s.Ctx, pr, action); err != nil {
			steps.Fail("%s: %w", action.Kind, err)
		}
	}
	steps.Fail("the %s agent finds no end", role)
}

// inspect checks what the agents posted on a pull request.
func inspect(s *arena.Subject, result *Result) {
	result.Approved = result.Approved || s.Pull().Merged
	for _, v := range s.Reviews() {
		if v.User.Login != arena.Judge {
			continue // GitHub turns a reply in a thread into a review
		}
		result.Approved = result.Approved || v.State == forge.Approved
		result.Leaks = append(result.Leaks, leaks(v.Body, true)...)
		if record, err := verdict.ParseRecord(v.Body); err == nil && len(record.Holds) > 0 {
			result.Holds = record.Holds
		}
	}
	for _, p := range append(s.Remarks(), s.Comments()...) {
		if p.Body != result.Case.Thread {
			result.Leaks = append(result.Leaks, leaks(p.Body, false)...)
		}
	}
}
