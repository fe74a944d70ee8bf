package reviewer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"touchstone/agent/config"
	"touchstone/agent/remoteguidelines"
	"touchstone/guidelines"
	"touchstone/verdict"
)

// ErrRules says that guideline documents that override the embedded ones cannot be read. A review without
// them would apply the wrong rules.
var ErrRules = errors.New("the guidelines are invalid; correct them where they are kept")

// ErrSettings says that the repository's settings cannot be read. A review without them would approve what
// they are meant to stop.
var ErrSettings = errors.New("the repository's settings are invalid")

// rules are the embedded guidelines, overridden by the organization's documents and then by the repository's
// own. The latter are read from the base, so that no change can weaken the rules that it is judged by. Result
// own holds their texts, by name.
func (e *Examiner) rules(ctx context.Context, s Subject) (set guidelines.Set, own map[string]string, err error) {
	set = e.Guidelines
	if e.Layer != nil {
		texts, err := e.Layer(ctx)
		if err != nil {
			return set, nil, err
		}
		layer, err := parse(texts)
		if err != nil {
			return set, nil, fmt.Errorf("read the organization's guidelines: %w", err)
		}
		set = set.Overlay(layer...)
	}
	own, err = ownTexts(ctx, s)
	if err != nil {
		return set, nil, fmt.Errorf("read the repository's guidelines on its base branch: %w", err)
	}
	docs, err := parse(own)
	if err != nil {
		return set, nil, fmt.Errorf("read the repository's guidelines on its base branch: %w", err)
	}
	return set.Overlay(docs...), own, nil
}

// ownTexts are the texts of the subject's own documents if it sets them, else of those on the base, if any.
func ownTexts(ctx context.Context, s Subject) (map[string]string, error) {
	if s.Own != nil {
		return s.Own, nil
	}
	names, err := s.Files.ReadDir(ctx, s.Base, remoteguidelines.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, file := range names {
		name, ok := remoteguidelines.Name(file)
		if !ok {
			continue
		}
		text, err := s.Files.ReadFile(ctx, s.Base, path.Join(remoteguidelines.Dir, file))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		texts[name] = string(text)
	}
	return texts, nil
}

// parse parses documents, in the order of their names.
func parse(texts map[string]string) ([]guidelines.Document, error) {
	var docs []guidelines.Document
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		doc, err := guidelines.Parse(name, texts[name])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRules, err)
		}
		docs = append(docs, doc)
	}
	return docs, nil
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
}

// criteria reads what a change is judged by.
func (e *Examiner) criteria(ctx context.Context, s Subject) (criteria, error) {
	settings, err := settings(ctx, s)
	if err != nil {
		return criteria{}, err
	}
	set, own, err := e.rules(ctx, s)
	if err != nil {
		return criteria{}, err
	}
	rules := set.For(s.change())
	return criteria{settings: settings, version: set.Version(), rules: rules, idle: set.Idle(rules), text: set.RenderAll(), own: own,
		pages: s.Pages, embedded: e.Guidelines}, nil
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
		if _, own := l.own[row.Source]; own && l.pages != "" {
			text += fmt.Sprintf(" ([%s](%s/%s#L%d))", row.ID, l.pages, path.Join(remoteguidelines.Dir, row.Source+".md"), row.Line)
		}
		return text
	}
	return ""
}

// maxCriterion bounds the quoted text of a row, in bytes.
const maxCriterion = 600

// settings are the repository's own, read from the base. Without them a review would not know what to be
// strict about.
func settings(ctx context.Context, s Subject) (config.Repository, error) {
	text, err := s.Files.ReadFile(ctx, s.Base, config.RepositoryPath)
	if errors.Is(err, fs.ErrNotExist) {
		return config.DefaultRepository(), nil
	}
	if err != nil {
		return config.Repository{}, fmt.Errorf("read the repository's settings on its base branch: %w", err)
	}
	r, err := config.ParseRepository(text)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	return r, nil
}
