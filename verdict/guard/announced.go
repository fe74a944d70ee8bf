package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/ci"
	"touchstone/verdict/guard/code"
)

// maxBetween bounds how many words stand between verb and object.
const maxBetween = 8

var (
	// prefix is what stands before the first word of a title: marks, and the part that it is about.
	prefix = regexp.MustCompile(`^(?:[\s>*+-]+|[\w/. -]{1,24}(?:\([^)]*\))?!?:\s+|\[[^\]]*\]\s*|:[a-z_]+:\s*)*`)
	// shaky removes a test or an assertion that was not reliable.
	shaky = regexp.MustCompile(`(?i)^(?:remov|delet|drop)\w* (?:\S+ ){0,2}(?:` +
		strings.Join(vocabulary.Words("unsteady"), "|") + `) .*(?:test|spec|assertion)`)
	// closes removes a check from the pipeline, and with stands before what goes along with something else.
	closes = regexp.MustCompile(`(?i)^(?:remov|delet|drop)\w* .*\b(?:ci|codeql|jobs?|pipelines?|tests?|workflows?)(?:[^\w/-]|$)`)
	with   = regexp.MustCompile(`(?i)\b(?:and|with) (?:its|their)\b`)
	// bracketed matches what a sentence says by the way.
	bracketed = regexp.MustCompile(`(?:^| )\([^)]*\)`)
	// quoted matches names of several words, which say nothing by themselves.
	quoted = regexp.MustCompile(`"[^"]+ [^"]*"|“[^”]+ [^”]*”`)
)

// announced is a hold where a change's title says that it leaves out a check, and something in it is evidence for that:
// then the two are certain together. Neither the words alone hold a change, nor what is only suspected, nor what the
// messages of commits say: in the histories on which this was measured, a later commit often undid what they announced.
func announced(title string, files []File, found []Finding) (holds []Finding) {
	s := prefix.ReplaceAllString(title, "")
	kind, object := leftOut(strings.ReplaceAll(quoted.ReplaceAllString(s, "“…”"), "test case", "testcase"))
	if kind == "" { // the check itself is quoted
		kind, object = leftOut(s)
	}
	gone := false
	switch {
	case kind != "":
	case shaky.MatchString(s):
		kind, gone = Test, true
	case closes.MatchString(with.Split(s, 2)[0]):
		kind, gone = CI, true
	}
	if kind == "" || slices.ContainsFunc(found, func(f Finding) bool { return f.Tier == Hold && f.Kind == kind }) {
		return nil
	}
	i := slices.IndexFunc(found, func(f Finding) bool {
		return f.Tier == Evidence && shows(f, kind) && (!gone || loses(f)) && (f.Kind != CI || !publishes(files, f.Path))
	})
	if i < 0 {
		return nil // a suppression in one place is evidence, whatever the change says
	}
	named := slices.IndexFunc(found, func(f Finding) bool {
		return f.Tier == Evidence && (f.Kind == kind || kind == Strictness && f.Kind == Suppression) && object != "" && names(f, object)
	})
	if named >= 0 {
		i = named
	}
	return []Finding{{Tier: Hold, Kind: kind, Rule: "announced/off", Place: found[i].Place,
		Why: "The title says that the change leaves out a check (“" + clip(s) + "”), and this place shows it."}}
}

// publishes reports whether a file was a pipeline that decides about no change, or a script that is gone and that no other file of the
// change names which is left, nor with a wildcard or a variable in place of its name: what else ran it changes, too, or fails.
func publishes(files []File, name string) bool {
	return slices.ContainsFunc(files, func(f File) bool {
		if f.Name() != name || f.Path != "" || path.Ext(name) != ".sh" {
			return f.Name() == name && ci.Is(f.OldPath) && !gates(f.OldPath, f.Before)
		}
		dir, base := path.Split(name)
		runs := regexp.MustCompile(regexp.QuoteMeta(base) + "|" + regexp.QuoteMeta(dir) + `[\w.-]*[*$].*\.sh`)
		return !slices.ContainsFunc(files, func(o File) bool { return o.Path != "" && runs.Match(o.Before) })
	})
}

// loses reports whether evidence is that a check is gone.
func loses(f Finding) bool {
	return Loses(f) || slices.Contains([]string{"assertion/fewer", "ci/check-gone", "ci/job-gone"}, f.Rule)
}

// names reports whether the lines of a finding have a name.
func names(f Finding, name string) bool {
	return strings.Contains(strings.ToLower(f.Before+"\n"+f.After), name)
}

// shows reports whether evidence can be what such a sentence says of checks of a kind.
func shows(f Finding, kind Kind) bool {
	switch kind {
	case Test:
		return f.Kind != Unexamined && f.Kind != Policy && f.Rule != code.GoneWithCode
	case CI:
		return f.Kind == CI
	}
	return f.Kind == kind || f.Kind == CI || strings.HasPrefix(f.Rule, "words/")
}

// leftOut is the kind of the check that a sentence says is left out, and what it calls it; "" if it says no such thing.
func leftOut(sentence string) (kind Kind, object string) {
	words, i := strings.Fields(strings.ToLower(sentence)), 0
	for i < len(words) && slices.Contains(hints, words[i]) {
		i++
	}
	switch {
	case i+1 < len(words) && words[i+1] == halves[words[i]]:
		i += 2
	case i < len(words) && slices.Contains(leaves, words[i]):
		i++
	default:
		return "", ""
	}
	returns := slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(forNow, strings.TrimRight(w, ".,;:!)"))
	})
	words, i = strings.Fields(bracketed.ReplaceAllString(strings.Join(words[i:], " "), "")), 0
	where := false // what follows says where something else is left out
	for end := min(len(words), i+maxBetween); i < end && !slices.Contains(breaks, words[i]) && words[i][0] != '('; i++ {
		word := strings.Trim(words[i], "`'\"([")
		name := strings.TrimRight(word, ".,;:!?)]")
		object = strings.Trim(name, "`'\"")
		kind = objectOf(object)
		if where = where || name == "on"; where && kind == Test {
			break
		}
		if kind != "" && (name != word || i+1 == len(words) || follows(words[i+1]) || returns && slices.Contains(conditions, words[i+1])) {
			return kind, object
		}
		if name != word || slices.Contains(uploads, name) && (i+1 == len(words) || objectOf(words[i+1]) == "") {
			break
		}
	}
	return "", ""
}

// follows reports whether a word, or a mark, can stand behind the object.
func follows(word string) bool {
	return slices.Contains(ends, word) || slices.Contains(forNow, word) || strings.IndexAny(word, "(#[-–—") == 0
}

// objectOf is the kind of check that has a name; "" if it is none.
func objectOf(name string) Kind {
	switch {
	case slices.Contains(ofCI, name):
		return CI
	case slices.Contains(ofChecks, name):
		return Strictness
	case !strings.HasPrefix(name, "test") && slices.ContainsFunc(unlike, func(end string) bool { return strings.HasSuffix(name, end) }):
		return ""
	case strings.HasPrefix(name, "test_"), slices.ContainsFunc(ofTests, func(end string) bool { return strings.HasSuffix(name, end) }):
		return Test
	}
	return ""
}
