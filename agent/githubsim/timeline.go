package githubsim

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"touchstone/agent/githubsim/graphql"
)

// incident is something that happened to a pull request and that its timeline shows.
type incident struct {
	kind string // its GraphQL type
	by   *account
	at   time.Time
	// more are the fields that only this kind has.
	more func(c *call) fields
}

func (p *pull) happened(kind string, by *account, more func(c *call) fields) {
	p.incidents = append(p.incidents, incident{kind, by, p.repo.git.Now(), more})
}

// forcePushed records that one end of a pull request was rewritten, if it was.
func (p *pull) forcePushed(kind string, r *repo, by *account, before, after string) {
	if before == "" || after == "" || r.git.Contains(after, before) {
		return
	}
	p.happened(kind, by, func(c *call) fields {
		return fields{"beforeCommit": c.commitNode(r, before), "afterCommit": c.commitNode(r, after)}
	})
}

// timeline lists the simulated incidents of the requested kinds, the oldest first.
func (c *call) timeline(p *pull, wanted []any) (list []node) {
	all := slices.Clone(p.incidents)
	slices.SortStableFunc(all, func(a, b incident) int { return a.at.Compare(b.at) })
	for i, in := range all {
		if !slices.Contains(wanted, any(itemType(in.kind))) {
			continue
		}
		shown := fields{}
		if in.more != nil {
			shown = in.more(c)
		}
		shown["id"], shown["actor"], shown["createdAt"] = fmt.Sprintf("TE_%d_%d", p.id, i), c.actor(in.by), stamp(in.at)
		list = append(list, &graphql.Object{Type: in.kind, Fields: shown})
	}
	return list
}

// itemType returns the name by which a query requests incidents of a type.
func itemType(kind string) string {
	var b strings.Builder
	for i, r := range kind {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}
