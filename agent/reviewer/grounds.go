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
)

// grounds are what the answers are held against.
func (p *Prepared) grounds(ctx context.Context) verdict.Grounds {
	rows := map[string]verdict.Severity{}
	for _, a := range p.Rules {
		rows[a.Row.ID] = verdict.Severity(a.Row.Mildest())
	}
	g := verdict.Grounds{Rows: rows, Idle: p.idle, Ledger: p.Ledger, Ratchet: p.Settings.Review.Ratchet, File: p.at(ctx, p.Diff.Head),
		Before: p.before(ctx), Texts: p.says()}
	if p.PriorHead != "" {
		g.Late = p.late(ctx)
		g.Touched, g.Restated = p.touched(ctx), p.restated
	}
	return g
}

// at reads files of one commit by their paths as they are spelled to the session.
func (p *Prepared) at(ctx context.Context, rev string) func(path string) ([]byte, error) {
	real := map[string]string{}
	for _, f := range p.Diff.Files {
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
		c, ok := read[path]
		if !ok {
			c.text, c.err = p.Files.ReadFile(ctx, rev, path)
			if errors.Is(c.err, fs.ErrInvalid) {
				c.err = fmt.Errorf("%w: %w", fs.ErrNotExist, c.err)
			}
			read[path] = c
		}
		return c.text, c.err
	}
}

// before reads files as they were before the change, under their present names.
func (p *Prepared) before(ctx context.Context) func(path string) ([]byte, error) {
	was := map[string]string{}
	for _, f := range p.Diff.Files {
		if f.OldPath != "" {
			was[change.Spell(f.Path)] = f.OldPath
		}
	}
	at := p.at(ctx, p.Diff.Base)
	return func(path string) ([]byte, error) {
		if old, ok := was[path]; ok {
			path = change.Spell(old)
		}
		return at(path)
	}
}

// late reports whether a finding's code was there when the last round looked: it
// could have been found then. What that round saw may be gone from this machine,
// and then nothing is late.
func (p *Prepared) late(ctx context.Context) func(verdict.Finding) bool {
	then := p.at(ctx, p.PriorHead)
	return func(f verdict.Finding) bool {
		text, err := then(f.Path)
		quote := words(f.Quote)
		return err == nil && quote != "" && strings.Contains(words(string(text)), quote)
	}
}

// says is what the pull request says of itself, as it is shown to the session.
func (p *Prepared) says() map[string]string {
	return map[string]string{
		verdict.TitleText:       p.harmless(p.Title),
		verdict.DescriptionText: p.harmless(hidden.RevealComments(p.Body)),
		verdict.MessagesText:    p.harmless(strings.Join(p.Commits, "\n\n")),
	}
}

// stated is what the pull request says of itself, as a record has it.
func (p *Prepared) stated() verdict.Record {
	var r verdict.Record
	r.State(p.Title, p.Body, p.Commits)
	return r
}

// restated reports whether a text is another one than in an earlier round.
func (p *Prepared) restated(round int, text string) bool {
	was, ok := p.Earlier[round]
	is := p.stated()
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

// touched reports whether a file or, with no path, anything is another one than in
// an earlier round. Where what that round saw cannot be read any more, it may be.
func (p *Prepared) touched(ctx context.Context) func(round int, path string) bool {
	now := p.at(ctx, p.Head)
	then := map[int]func(string) ([]byte, error){}
	for round, record := range p.Earlier {
		then[round] = p.at(ctx, record.Head)
	}
	return func(round int, path string) bool {
		record, ok := p.Earlier[round]
		if !ok {
			return true
		}
		if path == "" {
			return record.Head != p.Head || record.Base != p.Base || !record.SaysTheSame(p.stated())
		}
		was, before := then[round](path)
		is, after := now(path)
		if errors.Is(before, fs.ErrNotExist) && errors.Is(after, fs.ErrNotExist) {
			return false
		}
		return before != nil || after != nil || !bytes.Equal(was, is)
	}
}
