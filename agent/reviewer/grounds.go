package reviewer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"touchstone/agent/reviewer/change"
	"touchstone/agent/reviewer/hidden"
	"touchstone/verdict"
	source "touchstone/verdict/guard/code"
)

// grounds are what the answers are checked against.
func (m material) grounds(ctx context.Context) verdict.Grounds {
	rows := map[string]verdict.Severity{}
	for _, a := range m.criteria.rules {
		rows[a.Row.ID] = verdict.Severity(a.Row.Mildest())
	}
	g := verdict.Grounds{Rows: rows,
		Idle: m.criteria.idle, Ledger: m.Ledger, Ratchet: m.criteria.settings.Review.Ratchet, File: m.at(ctx, m.Diff.Head),
		Before: m.before(ctx), Texts: m.says(), Code: source.Holds}
	if m.PriorHead != "" {
		g.Late = m.late(ctx, m.PriorHead)
		g.Touched, g.Restated = m.touched(ctx), m.restated
	}
	return g
}

// at reads the files of one commit, by their paths as spelled in the prompt.
func (c Checkout) at(ctx context.Context, rev string) func(path string) ([]byte, error) {
	real := map[string]string{}
	for _, f := range c.Diff.Files {
		real[change.Spell(f.Path)] = f.Path
	}
	type content struct {
		text []byte
		err  error
	}
	read := map[string]content{}
	return func(path string) ([]byte, error) {
		if name, ok := real[path]; ok {
			path = name
		}
		now, ok := read[path]
		if !ok {
			now.text, now.err = c.Files.ReadFile(ctx, rev, path)
			if errors.Is(now.err, fs.ErrInvalid) {
				now.err = fmt.Errorf("%w: %w", fs.ErrNotExist, now.err)
			}
			read[path] = now
		}
		return now.text, now.err
	}
}

// before reads files as they were before the change, by their present names.
func (c Checkout) before(ctx context.Context) func(path string) ([]byte, error) {
	was := map[string]string{}
	for _, f := range c.Diff.Files {
		if f.OldPath != "" {
			was[change.Spell(f.Path)] = f.OldPath
		}
	}
	at := c.at(ctx, c.Diff.Base)
	return func(path string) ([]byte, error) {
		if old, ok := was[path]; ok {
			path = change.Spell(old)
		}
		return at(path)
	}
}

// late reports whether a finding's code already existed in the last round's head, prior, which could have found it. If this
// machine no longer has that commit, nothing is late.
func (c Checkout) late(ctx context.Context, prior string) func(verdict.Finding) bool {
	then := c.at(ctx, prior)
	return func(f verdict.Finding) bool {
		text, err := then(f.Path)
		quote := verdict.OneLine(f.Quote)
		return err == nil && quote != "" && strings.Contains(verdict.OneLine(string(text)), quote)
	}
}

// says are the pull request's own texts as the session is shown them.
func (m material) says() map[string]string {
	return map[string]string{
		verdict.TitleText:       m.harmless(m.Title),
		verdict.DescriptionText: m.harmless(hidden.RevealComments(m.Body)),
		verdict.MessagesText:    m.harmless(m.messages(m.Ledger)),
	}
}

// stated are the pull request's own texts in the form of a record.
func (t Texts) stated() verdict.Record {
	var r verdict.Record
	r.State(t.Title, t.Body, t.Commits)
	return r
}

// restated reports whether a text differs from an earlier round.
func (s Subject) restated(round int, text string) bool {
	was, ok := s.Earlier[round]
	is := s.stated()
	switch {
	case !ok:
		return true
	case text == verdict.TitleText:
		return was.Title != is.Title
	case text == verdict.DescriptionText:
		return was.Description != is.Description
	}
	return was.Messages != is.Messages
}

// touched reports whether a file, or with no path anything, differs from an earlier round. It is true if that
// round's files can no longer be read.
func (s Subject) touched(ctx context.Context) func(round int, path string) bool {
	now := s.at(ctx, s.Head)
	then := map[int]func(string) ([]byte, error){}
	for round, record := range s.Earlier {
		then[round] = s.at(ctx, record.Head)
	}
	return func(round int, path string) bool {
		record, ok := s.Earlier[round]
		if !ok {
			return true
		}
		if path == "" {
			return record.Head != s.Head || record.Base != s.Base || !record.SaysTheSame(s.stated())
		}
		was, before := then[round](path)
		is, after := now(path)
		if errors.Is(before, fs.ErrNotExist) && errors.Is(after, fs.ErrNotExist) {
			return false
		}
		return before != nil || after != nil || !bytes.Equal(was, is)
	}
}
