package author

import (
	"fmt"
	"slices"
	"strings"

	"touchstone/agent/forge"
	"touchstone/worktree/diff"
	"touchstone/worktree/lazyregexp"
)

// deferral matches a note that something is left for later: one of the usual words, in capitals or at the
// beginning of a comment, or a phrase that people write instead.
var deferral = lazyregexp.New(`\b(?:TODO|FIXME|XXX|HACK|TBD)\b` +
	`|(?i:(?:#|//|/\*|--|<!--|;|%|^\s*\*)\s*@?(?:todo|fixme|xxx|hack|tbd)\b)` +
	`|(?i:\b(?:follow-?up|separate|later|future) (?:pr|pull request|mr|merge request)\b)` +
	`|(?i:\b(?:fix|fixed|handle|handled|do|done|address|addressed|implement|implemented|clean up) (?:this |it |that |these )?later\b)`)

// marker matches an indented line of conflict markers. Package worktree finds those at the beginning of a
// line.
var marker = lazyregexp.New(`^\s+(?:<{7}|>{7}) `)

// secretUse matches a line by which a pipeline gets access to credentials, or to more of them. When in doubt
// it matches, so that a person decides: a word is enough, in any context, since YAML and expressions have too
// many ways to write the same, and expressions ignore case
// (https://docs.github.com/actions/reference/workflows-and-actions/contexts).
var secretUse = lazyregexp.New(`(?i)secret|credential|access_?token` +
	`|\bgithub\s*(?:\.\s*(?:token\b|\*)|[\[)]|$)` + // github.token, github['token'], toJSON(github)
	`|\b(?:pull_request_target|workflow_run)\b` +
	`|(?:^|[\s{,?-])["']?(?:permissions|environment)["']?\s*:` +
	`|:\s*["']?write(?:-all)?["']?\s*(?:[#,}]|$)` +
	`|\\[xu][0-9a-f]{2}`) // any of these, written as character escapes

// written rejects added lines that no fix needs: notes that defer the work, credentials, and pipelines that
// use them.
func written(diffs []diff.Diff) error {
	for _, f := range diffs[0].Files {
		for _, line := range ownLines(diffs, f.Path) {
			switch {
			case marker.MatchString(line):
				return fmt.Errorf("%w: %s has the new line %.200q", ErrConflicts, f.Path, line)
			case deferral.MatchString(line):
				return fmt.Errorf("%w: %s has the new line %.200q", ErrDeferred, f.Path, line)
			case forge.HoldsSecret(line):
				return fmt.Errorf("%w: a new line of %s looks like a credential", ErrForbidden, f.Path)
			case isPipeline(f.Path) && secretUse.MatchString(line):
				return fmt.Errorf("%w: %s has the new line %.200q, which gives a pipeline access to credentials", ErrForbidden, f.Path, line)
			}
		}
	}
	return nil
}

// ownLines are the lines of a file that every diff adds and that were not only moved within the file.
func ownLines(diffs []diff.Diff, name string) []string {
	var own []string
	for i, d := range diffs {
		var added []string
		for _, f := range d.Files {
			if f.Path == name {
				added = append(added, addedLines(f.Patch)...)
			}
		}
		if i == 0 {
			own = added
			continue
		}
		own = slices.DeleteFunc(own, func(line string) bool { return !slices.Contains(added, line) })
	}
	return own
}

// addedLines are the lines that a patch adds, except for those that it removes elsewhere.
func addedLines(patch []byte) []string {
	var added []string
	removed := map[string]int{}
	for l := range diff.Lines(patch) {
		text := strings.TrimRight(string(l.Raw), "\r")
		switch l.Sign {
		case '+':
			added = append(added, text[1:])
		case '-':
			removed[strings.TrimSpace(text[1:])]++
		}
	}
	return slices.DeleteFunc(added, func(line string) bool {
		removed[strings.TrimSpace(line)]--
		return removed[strings.TrimSpace(line)] >= 0
	})
}
