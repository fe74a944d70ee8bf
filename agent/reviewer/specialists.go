package reviewer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"touchstone/agent/engine"
	"touchstone/agent/reviewer/change"
	"touchstone/verdict"
)

// groups are the dimensions that each specialist walks.
var groups = [][]verdict.Dimension{
	{verdict.Graph, verdict.Architecture, verdict.Impact},
	{verdict.Security, verdict.Observability},
	{verdict.Test, verdict.Doc, verdict.AIAntipattern, verdict.Recurrence},
}

// candidate is the evidence kind of a specialist's finding, for the session that judges.
const candidate = "candidate"

// specialists runs one session for each group of dimensions, concurrently. Their findings become evidence for
// the session that reviews afterwards. That session reads the source again and answers each piece, as a
// finding or with the reason why it is none, so no finding is lost. Result aside has what the specialists
// reported besides. If a specialist does not finish, only the reviewing session covers its dimensions. The error
// is the context's.
func (p *Prepared) specialists(ctx context.Context, x *Examination,
	req engine.Request) (candidates []verdict.Evidence, aside verdict.Judgement, err error) {
	req.Budget /= float64(len(groups) + 1) // the reviewing session gets an equal share
	found := make([]verdict.Judgement, len(groups))
	spent, began := make([]engine.Result, len(groups)), time.Now()
	var all errgroup.Group
	for i, group := range groups {
		all.Go(func() error {
			var err error
			if found[i], err = p.specialist(ctx, req, group, &spent[i]); err != nil && ctx.Err() == nil {
				zerolog.Ctx(ctx).Warn().Err(err).Strs("dimensions",
					names(group)).Msg("a specialist did not finish; its dimensions are left to the session that judges")
			}
			return nil
		})
	}
	_ = all.Wait() // each logs its own error
	x.together(began, spent...)
	for _, j := range found {
		as := map[string]string{} // the evidence that a finding became
		for _, f := range j.Answer.Findings {
			as[f.ID] = fmt.Sprintf("E%d", len(p.suspicions)+len(candidates)+1)
			candidates = append(candidates, verdict.Evidence{
				ID: as[f.ID], Kind: candidate, Rule: f.Rule, Path: f.Path, Line: f.Line,
				Detail: fmt.Sprintf("[%s] %s %s: %s %s", f.Dimension, f.Severity, f.Rule, f.Claim, f.Why),
			})
		}
		for _, n := range j.Named {
			candidates = append(candidates, verdict.Evidence{
				ID: fmt.Sprintf("E%d", len(p.suspicions)+len(candidates)+1), Kind: candidate, Rule: cmp.Or(append(n.Rules, "")...), Path: n.Paths[0],
				Detail: "A specialist names a possible defect here that its answer neither lists as a finding nor shows to be untrue.",
			})
		}
		for _, m := range j.Merged {
			if id := as[m.Into]; id != "" {
				m.Into, m.Reason = id, "a specialist repeats "+id
			}
			aside.Merged = append(aside.Merged, m)
		}
		aside.Dropped = append(aside.Dropped, j.Dropped...)
	}
	return candidates, aside, ctx.Err()
}

// specialist walks some dimensions of all parts of the change. Of the result, the findings count that hold, those that
// were merged or dropped, and what it names without listing it. An error leaves what was found before.
func (p *Prepared) specialist(ctx context.Context, req engine.Request, group []verdict.Dimension,
	spent *engine.Result) (found verdict.Judgement, err error) {
	session, err := p.examiner.Engine.Open(ctx, req)
	if err != nil {
		return found, err
	}
	defer func() { err = cmp.Or(err, session.Close()) }()
	g := p.grounds(ctx)
	for part := range p.understood.Parts {
		nonce := rand.Text()
		prompt := p.prompt(part, nonce)
		prompt = slices.Insert(prompt, len(prompt)-1,
			Part{"group", "\n# Your dimensions\n\nOthers walk the other dimensions. Walk these alone: " + strings.Join(names(group), ", ") +
				". Under each of the others say \"left to another session\".\n"})
		result, err := session.Ask(ctx, prompt.String())
		spent.Add(result)
		if err != nil {
			return found, err
		}
		g.Changed = nil
		for _, f := range p.understood.Parts[part] {
			g.Changed = append(g.Changed, change.Spell(f.Path))
		}
		j := verdict.Judge(result.Text, nonce, g)
		for _, f := range j.Answer.Findings {
			switch {
			case f.Kept != "":
			case slices.Contains(group, f.Dimension):
				found.Answer.Findings = append(found.Answer.Findings, f)
			default:
				found.Dropped = append(found.Dropped, verdict.Dropped{Finding: f, Reason: "its dimension was another session's"})
			}
		}
		found.Merged, found.Dropped = append(found.Merged, j.Merged...), append(found.Dropped, j.Dropped...)
		found.Named = append(found.Named, j.Named...)
		if j.Unreadable {
			return found, errors.New("its answer cannot be read")
		}
	}
	return found, nil
}

func names(group []verdict.Dimension) (all []string) {
	for _, d := range group {
		all = append(all, string(d))
	}
	return all
}

// isCandidate reports whether a piece of evidence is a specialist's finding rather than a suspicion of code.
func isCandidate(e verdict.Evidence) bool { return e.Kind == candidate }
