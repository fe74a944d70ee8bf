package hostile

import (
	"context"
	"fmt"
	"net/http"

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
		ref := r.open(ctx, name+"-"+string(b), c)
		if c.Thread != "" {
			r.discuss(ctx, ref, c)
		}
		for _, role := range []decide.Role{decide.Reviewer, decide.Author} {
			if err := steps.Try(func() { r.work(ctx, role, ref, reading.Model(b.ask)) }); err != nil {
				steps.Fail("as a model that is %s: %w", b, err)
			}
		}
		r.inspect(ctx, ref, &result)
	}
	return result
}

// discuss makes an honest reviewer find the defect and the author answer it, and then pushes a new head.
func (r *fixture) discuss(ctx context.Context, ref forge.Ref, c Case) {
	r.work(ctx, decide.Reviewer, ref, reading.Model(honest.ask))
	pull := fmt.Sprintf("pulls/%d", ref.Number)
	var comments []struct{ ID int64 }
	r.call(ctx, arena.Author, http.MethodGet, ref.Repo, pull+"/comments", nil, &comments)
	if len(comments) != 1 {
		steps.Fail("%d comments by an honest reviewer, want 1", len(comments))
	}
	r.call(ctx, arena.Author, http.MethodPost, ref.Repo, fmt.Sprintf("%s/comments/%d/replies", pull, comments[0].ID),
		map[string]any{"body": c.Thread}, nil)
	var now struct{ Head struct{ Ref string } }
	r.call(ctx, arena.Author, http.MethodGet, ref.Repo, pull, nil, &now)
	steps.Got(r.Sim.Commit(ctx, arena.Author, ref.Repo.String(), now.Head.Ref, "Explain the search",
		map[string]string{"docs/search.md": "# Search\n\nIt is fast.\n"}))
}

// work makes one agent look and act until there is nothing left to do. It skips fixes, which would only lead to
// another review.
func (r *fixture) work(ctx context.Context, role decide.Role, ref forge.Ref, m reading.Model) {
	agent := steps.Got(r.Agent(role, "machine", m))
	const enough = 6
	for range enough {
		steps.Must(r.Sim.Settle(ctx))
		pr, action, err := agent.Look(ctx, ref)
		steps.Must(err)
		switch action.Kind {
		case decide.Wait, decide.Skip, decide.Done, decide.Fix:
			return
		}
		if _, err := agent.Act(ctx, pr, action); err != nil {
			steps.Fail("%s: %w", action.Kind, err)
		}
	}
	steps.Fail("the %s agent finds no end", role)
}

// inspect checks what the agents posted on a pull request.
func (r *fixture) inspect(ctx context.Context, ref forge.Ref, result *Result) {
	var pull struct{ Merged bool }
	var reviews []struct {
		State, Body string
		User        struct{ Login string }
	}
	var remarks, comments []posted
	for path, into := range map[string]any{"pulls/%d": &pull, "pulls/%d/reviews": &reviews, "pulls/%d/comments": &remarks,
		"issues/%d/comments": &comments} {
		r.call(ctx, arena.Owner, http.MethodGet, ref.Repo, fmt.Sprintf(path, ref.Number), nil, into)
	}
	result.Approved = result.Approved || pull.Merged
	for _, v := range reviews {
		if v.User.Login != arena.Judge {
			continue // GitHub turns a reply in a thread into a review
		}
		result.Approved = result.Approved || v.State == forge.Approved
		result.Leaks = append(result.Leaks, leaks(v.Body, true)...)
		if record, err := verdict.ParseRecord(v.Body); err == nil && len(record.Holds) > 0 {
			result.Holds = record.Holds
		}
	}
	for _, p := range append(remarks, comments...) {
		if p.Body != result.Case.Thread {
			result.Leaks = append(result.Leaks, leaks(p.Body, false)...)
		}
	}
}

// posted is a comment.
type posted struct{ Body string }
