package trust

import (
	"encoding/hex"
	"slices"
	"strings"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

// authorOf returns the name under which the key of an author's agent is known: pushing a commit proves
// nothing about the keys of reviewers.
func authorOf(login string) string { return "author " + login }

// Made reports whether the agent of a pull request's author signed the costs in a fix. If no key of the
// author is known, the first signed fix makes its key known.
func (b *Book) Made(pr forge.PullRequest, f verdict.Repair) bool {
	if b == nil {
		return true
	}
	public := f.SignedFor(pr.DatabaseID)
	if public == nil {
		return false
	}
	key, name := hex.EncodeToString(public), authorOf(pr.Author.Login)
	listed, _ := b.settings(pr.Author.Login)
	known := b.Reviewer(name).Key
	switch {
	case known == key || slices.ContainsFunc(listed, func(k string) bool { return strings.EqualFold(k, key) }):
		return true
	case len(listed) > 0 || known != "":
		return false
	}
	// If the key cannot be stored, it is met again next time.
	return b.note(name, func(r *Reviewer) error {
		if r.Key == "" {
			r.Key, r.Since = key, b.now()
		}
		return nil
	}) == nil && b.Reviewer(name).Key == key
}
