// Package words examines what no rule knows: the settings, lists, limits, flags and commands of files that say what is
// built, tested, measured or left out, by one comparison for all formats, whose differences are named once for each
// kind in a change; new words in a build file, in the comments of pipelines and settings, or in code shared by tests,
// with which people exclude something or call it flaky; and lines that became comments. What is found is evidence,
// unless a value says that a limit or a flag is weaker. It does no I/O.
package words

import (
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
)

// left are parts of words which say that something is left out, or fails at times.
var left = termsOf("left")

// says reports whether a word contains one of these parts.
func says(w string) bool { return left.in(w) }

// LeavesOut reports whether a name says that something is left out.
func LeavesOut(name string) bool { return left.in(name) && !harmless.in(name) }

// Eases reports whether a name says that, or that a test waits for longer or takes more for right.
func Eases(name string) bool { return LeavesOut(name) || slack.in(name) }

var slack = termsOf("slack")

// Checks reports whether a name says that something is checked.
func Checks(name string) bool { return checking.in(name) }

// harmless are names from libraries that contain such a part and leave nothing out.
var harmless = termsOf("harmless")

// inText returns the names and the words of sentences in a text.
func inText(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// Look finds the first such word that occurs more often in the text after than in the text before.
func Look(f change.File, before, after string) (change.Finding, bool) {
	words := change.Without(inText(after), inText(before), strings.ToLower)
	i := slices.IndexFunc(words, LeavesOut)
	if i < 0 {
		return change.Finding{}, false
	}
	line := 1 + strings.Count(string(f.After[:max(0, strings.Index(string(f.After), words[i]))]), "\n")
	return evidence("left-out", "The word "+words[i]+" is new here: something may be left out.", f, line, words[i]), true
}

func evidence(rule, why string, f change.File, line int, after string) change.Finding {
	return change.Finding{Tier: change.Evidence, Kind: change.Test, Rule: "words/" + rule, Why: why,
		Place: change.Place{Path: f.Path, Line: line, After: after}}
}

// minLine is the minimum length of a commented-out line that counts, in bytes.
const minLine = 4

// Turned finds a line of a script or of settings that became a comment.
func Turned(f change.File) (change.Finding, bool) {
	lines := func(content []byte) (all []string, had map[string]int) {
		had = map[string]int{}
		for line := range strings.Lines(string(content)) {
			all = append(all, strings.TrimSpace(line))
			had[strings.TrimSpace(line)]++
		}
		return all, had
	}
	_, had := lines(f.Before)
	all, has := lines(f.After)
	for i, line := range all {
		text := strings.TrimLeft(line, "#/ \t")
		if comment := strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//"); comment && len(text) >= minLine && had[line] < has[line] &&
			had[text] > has[text] {
			return evidence("commented-out", "A line is a comment now that was none.", f, i+1, line), true
		}
	}
	return change.Finding{}, false
}

// Comments returns the comments of a settings file, by their usual mark.
func Comments(content []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(content)) {
		if i := strings.IndexByte(line, '#'); i >= 0 && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			out.WriteString(line[i:])
		}
	}
	return out.String()
}

// IsShell reports whether a file of this name is a script of a system's shell.
func IsShell(name string) bool {
	return slices.Contains([]string{".sh", ".bash", ".bat", ".cmd", ".ps1"}, strings.ToLower(path.Ext(name)))
}
