package reviewer

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"touchstone/agent/config"
	"touchstone/agent/remoteguidelines"
	"touchstone/guidelines"
	"touchstone/verdict"
)

// ErrRules says that guideline documents that override the embedded ones cannot be read. A review without
// them would apply the wrong rules.
var ErrRules = errors.New("the guidelines are invalid; correct them where they are kept")

// rules are the embedded guidelines, overridden by the organization's documents and then by the repository's
// own. The latter are read from the base if they are not given, so that no change can weaken the rules that it is judged
// by. Result own holds their texts, by name.
func (e *Examiner) rules(ctx context.Context, c Checkout, given map[string]string) (set guidelines.Set, own map[string]string, err error) {
	set = e.Guidelines
	if e.Layer != nil {
		texts, err := e.Layer(ctx)
		if err != nil {
			return set, nil, err
		}
		if set, err = lay(set, texts); err != nil {
			return set, nil, fmt.Errorf("read the organization's guidelines: %w", err)
		}
	}
	if own = given; own == nil {
		own, err = remoteguidelines.Committed(ctx, c.Files, c.Base)
	}
	if err == nil {
		set, err = lay(set, own)
	}
	if err != nil {
		return set, nil, fmt.Errorf("read the repository's guidelines on its base branch: %w", err)
	}
	return set, own, nil
}

func lay(set guidelines.Set, texts map[string]string) (guidelines.Set, error) {
	laid, err := remoteguidelines.Lay(set, texts)
	if err != nil {
		return set, fmt.Errorf("%w: %w", ErrRules, err)
	}
	return laid, nil
}

// criteria is what a change is judged by. Everything in it is read from the base.
type criteria struct {
	settings config.Repository // the repository's
	version  string            // of the guidelines
	rules    []guidelines.Applied
	idle     []verdict.Dimension // the dimensions without an applicable row
	text     string              // the guidelines, the same for every change
	own      map[string]string   // the texts of the repository's own documents, by name
	pages    string              // as in Subject
	embedded guidelines.Set
	builtIns string // the URL of the embedded documents, as in Examiner.Pages
}

// criteria reads what a change is judged by.
func (e *Examiner) criteria(ctx context.Context, s Subject) (criteria, error) {
	settings, err := config.ReadRepository(ctx, s.Files, s.Base)
	if err != nil {
		return criteria{}, err
	}
	set, own, err := e.rules(ctx, s.Checkout, s.Own)
	if err != nil {
		return criteria{}, err
	}
	rules := set.For(s.change(s.Diff, s.Round))
	return criteria{settings: settings, version: set.Version(), rules: rules, idle: set.Idle(rules), text: set.RenderAll(), own: own,
		pages: s.Pages, embedded: e.Guidelines, builtIns: e.Pages}, nil
}

// builtIn is the severity of an applicable row, if its text is the built-in one: code does not interpret a
// text that a repository has changed.
func (l criteria) builtIn(id string) (verdict.Severity, bool) {
	built, ok := l.embedded.Row(id)
	for _, a := range l.rules {
		if ok && a.Row.ID == id && a.Row.Criterion == built.Criterion {
			return verdict.Severity(a.Row.Worst()), true
		}
	}
	return "", false
}

// mildest is the mildest severity that a finding of a rule may have; "" if the rule does not apply.
func (l criteria) mildest(rule string) verdict.Severity {
	for _, a := range l.rules {
		if a.Row.ID == rule {
			return verdict.Severity(a.Row.Mildest())
		}
	}
	return ""
}

// criterion quotes the row that a finding cites, with a link to it.
func (l criteria) criterion(rule string) string {
	for _, a := range l.rules {
		row := a.Row
		if row.ID != rule {
			continue
		}
		text := prose(clip(row.Criterion, maxCriterion))
		if page := l.page(row); page != "" {
			text += fmt.Sprintf(" ([%s](%s#L%d))", row.ID, page, row.Line)
		}
		return text
	}
	return ""
}

// page is the URL of the document with a row; empty if it is not known.
func (l criteria) page(row guidelines.Row) string {
	name := row.Source + ".md"
	if _, own := l.own[row.Source]; own {
		if l.pages == "" {
			return ""
		}
		return l.pages + "/" + path.Join(remoteguidelines.Dir, name)
	}
	built, ok := l.embedded.Row(row.ID)
	if !ok || l.builtIns == "" || built.Source != row.Source || built.Line != row.Line || built.Criterion != row.Criterion {
		return "" // an organization's document has it
	}
	return strings.TrimRight(l.builtIns, "/") + "/" + name
}

// maxCriterion bounds the quoted text of a row, in bytes.
const maxCriterion = 600
