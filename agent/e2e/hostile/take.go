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
func (r *fixture) take(ctx context.Context, name string, c Case) (Result, error) {
	result := Result{Case: c}
	for _, b := range c.behaviours() {
		ref, err := r.open(ctx, name+"-"+string(b), c)
		if err != nil {
			return result, fmt.Errorf("open it: %w", err)
		}
		if c.Thread != "" {
			if err := r.discuss(ctx, ref, c); err != nil {
				return result, fmt.Errorf("discuss it: %w", err)
			}
		}
		if err := r.agents(ctx, ref, reading.Model(b.ask)); err != nil {
			return result, fmt.Errorf("as a model that is %s: %w", b, err)
		}
		if err := r.inspect(ctx, ref, &result); err != nil {
			return result, fmt.Errorf("inspect it: %w", err)
		}
	}
	return result, nil
}

// discuss makes an honest reviewer find the defect and the author answer it, and then pushes a new head.
func (r *fixture) discuss(ctx context.Context, ref forge.Ref, c Case) error {
	if err := r.work(ctx, decide.Reviewer, ref, reading.Model(honest.ask)); err != nil {
		return err
	}
	var comments []struct{ ID int64 }
	if err := r.Call(ctx, arena.Author, http.MethodGet, ref.Repo, fmt.Sprintf("pulls/%d/comments", ref.Number), nil, &comments); err != nil {
		return err
	}
	if len(comments) != 1 {
		return fmt.Errorf("%d comments by an honest reviewer, want 1", len(comments))
	}
	path := fmt.Sprintf("pulls/%d/comments/%d/replies", ref.Number, comments[0].ID)
	if err := r.Call(ctx, arena.Author, http.MethodPost, ref.Repo, path, map[string]any{"body": c.Thread}, nil); err != nil {
		return err
	}
	var pull struct{ Head struct{ Ref string } }
	if err := r.Call(ctx, arena.Author, http.MethodGet, ref.Repo, fmt.Sprintf("pulls/%d", ref.Number), nil, &pull); err != nil {
		return err
	}
	_, err := r.Sim.Commit(ctx, arena.Author, ref.Repo.String(), pull.Head.Ref, "Explain the search",
		map[string]string{"docs/search.md": "# Search\n\nIt is fast.\n"})
	return err
}

// agents makes the reviewer, and then the author's side, do their work.
func (r *fixture) agents(ctx context.Context, ref forge.Ref, m reading.Model) error {
	if err := r.work(ctx, decide.Reviewer, ref, m); err != nil {
		return err
	}
	return r.work(ctx, decide.Author, ref, m)
}

// work makes one agent look and act until there is nothing left to do. It skips fixes, which would only lead to
// another review.
func (r *fixture) work(ctx context.Context, role decide.Role, ref forge.Ref, m reading.Model) error {
	agent, err := r.Agent(role, "machine", m)
	if err != nil {
		return err
	}
	const enough = 6
	for range enough {
		if err := r.Sim.Settle(ctx); err != nil {
			return err
		}
		pr, action, err := agent.Look(ctx, ref)
		if err != nil {
			return err
		}
		switch action.Kind {
		case decide.Wait, decide.Skip, decide.Done, decide.Fix:
			return nil
		}
		if _, err := agent.Act(ctx, pr, action); err != nil {
			return fmt.Errorf("%s: %w", action.Kind, err)
		}
	}
	return fmt.Errorf("the %s agent finds no end", role)
}

// inspect checks what the agents posted on a pull request.
func (r *fixture) inspect(ctx context.Context, ref forge.Ref, result *Result) error {
	var pull struct{ Merged bool }
	var reviews []struct {
		State, Body string
		User        struct{ Login string }
	}
	var remarks, comments []posted
	for path, into := range map[string]any{"pulls/%d": &pull, "pulls/%d/reviews": &reviews, "pulls/%d/comments": &remarks,
		"issues/%d/comments": &comments} {
		if err := r.Call(ctx, arena.Owner, http.MethodGet, ref.Repo, fmt.Sprintf(path, ref.Number), nil, into); err != nil {
			return err
		}
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
	return nil
}

// posted is a comment.
type posted struct{ Body string }
