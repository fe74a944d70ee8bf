package guard

import (
	"regexp"
	"slices"
	"strings"
)

// These are the words of a sentence in which somebody says that a check is left out. The first one is the verb: what
// follows a "because" or a "that" is about something else.
var (
	hints = strings.Fields("also just now temporarily")
	// leaves are the verbs, as orders and as reports; those of halves count together with their second word. "Do not run"
	// and "stop running" are not among them: so speaks who adds a case that was never checked.
	leaves = strings.Fields("disable disables disabled disabling exclude excludes excluded excluding ignore ignores ignored " +
		"ignoring mute mutes muted muting quarantine quarantines quarantined skip skips skipped skipping xfail xfails xfailed")
	halves = map[string]string{"comment": "out", "comments": "out", "commented": "out", "turn": "off", "turns": "off", "turned": "off"}
	// breaks begin another phrase, or say that the object is new.
	breaks = strings.Fields("after as before by during for from if in new newly of so that to under when which while with")
	// ends can follow the object. Another noun cannot: the "test" of "test output" is no test. Nor can what makes it a
	// condition ("on Windows", "if there is no network"): such a skip is evidence, as it is where code reads it.
	ends = strings.Fields("added again and as because due entirely or since")
	// conditions can follow it, too, if the check is to come back.
	conditions = strings.Fields("against at by for from if in of on only that to under via when where which while with without")
	// forNow says that it is.
	forNow = strings.Fields("now temporarily until")
)

// Objects are the names of what can be left out. A test also has a name that ends in one of these, but for unlike.
var (
	ofTests  = strings.Fields("test tests spec specs testcase testcases suite suites assertion assertions")
	unlike   = strings.Fields("latest fastest greatest contest protest attest")
	ofCI     = strings.Fields("ci job jobs build builds workflow workflows pipeline pipelines runner runners")
	ofChecks = strings.Fields("lint lints linter linters linting warning warnings rule rules cop cops check checks offenses " +
		"todo todos coverage typecheck clippy pylint mypy eslint phpstan psalm ruff flake8 rubocop credo dialyzer detekt ktlint " +
		"swiftlint golangci-lint scan scans scanner scanners scanning codeql coverity danger sonar sonarcloud sonarqube snyk")
)

const (
	// maxSaidLines bounds how many lines of a text are read, maxBetween how many words stand between verb and object.
	maxSaidLines = 200
	maxBetween   = 8
)

var (
	// prefix is what stands before the first word of a line: bullets, marks, and the part that a title is about.
	prefix = regexp.MustCompile(`^(?:[\s>*+-]+|\d+[.)]\s+|[\w/. -]{1,24}(?:\([^)]*\))?!?:\s+|\[[^\]]*\]\s*|:[a-z_]+:\s*)*`)
	// item begins an entry of a list.
	item = regexp.MustCompile(`^(?:[*+-]|\d+[.)])\s`)
	// merge is the title that GitHub gives a merge; the name of the branch says what it does.
	merge = regexp.MustCompile(`^Merge pull request #\d+ from [^/\s]+/(\S+)$`)
	// shaky removes a test or an assertion that was not reliable.
	shaky = regexp.MustCompile(`(?i)^(?:remov|delet|drop)\w* (?:\S+ ){0,2}(?:bad|brittle|failing|flake?y|fragile|` +
		`\w*problematic|racy|unreliable|unstable) .*(?:test|spec|assertion)`)
	// closes removes a check from the pipeline.
	closes = regexp.MustCompile(`(?i)^(?:remov|delet|drop)\w* .*\b(?:ci|codeql|jobs?|pipelines?|tests?|workflows?)\b`)
)

// announced is a hold where a change says of itself that it leaves out a check, and something in it is evidence for
// that: then the two are certain together. Neither the words alone hold a change, nor what is only suspected.
func announced(said []string, found []Finding) (holds []Finding) {
	for _, text := range said {
		for at, s := range sentences(text) {
			kind, object := leftOut(strings.Fields(s))
			gone := false
			switch {
			case kind != "" || at > 0:
			case shaky.MatchString(s):
				kind, gone = Test, true
			case closes.MatchString(s):
				kind, gone = CI, true
			}
			if kind == "" || slices.ContainsFunc(slices.Concat(holds, found), func(f Finding) bool { return f.Tier == Hold && f.Kind == kind }) {
				continue
			}
			i := slices.IndexFunc(found, func(f Finding) bool { return f.Tier == Evidence && shows(f, kind) && (!gone || loses(f)) })
			if i < 0 {
				continue // a suppression in one place is evidence, whatever the change says
			}
			named := slices.IndexFunc(found, func(f Finding) bool {
				return f.Tier == Evidence && (f.Kind == kind || kind == Strictness && f.Kind == Suppression) && object != "" && names(f, object)
			})
			if named >= 0 {
				i = named
			}
			holds = append(holds, Finding{Tier: Hold, Kind: kind, Rule: "announced/off", Place: found[i].Place,
				Why: "The change says of itself that it leaves out a check (“" + clip(s) + "”), and this place shows it."})
		}
	}
	return holds
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
		return f.Kind != Unexamined && f.Kind != Policy
	case CI:
		return f.Kind == CI
	}
	return f.Kind == kind || f.Kind == CI || strings.HasPrefix(f.Rule, "words/")
}

// leftOut is the kind of the check that a sentence says is left out, and what it calls it; "" if it says no such thing.
func leftOut(words []string) (kind Kind, object string) {
	lower := func(i int) string { return strings.ToLower(words[i]) }
	i := 0
	for i < len(words) && slices.Contains(hints, lower(i)) {
		i++
	}
	switch {
	case i+1 < len(words) && lower(i+1) == halves[lower(i)]:
		i += 2
	case i < len(words) && slices.Contains(leaves, lower(i)):
		i++
	default:
		return "", ""
	}
	returns := slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(forNow, strings.ToLower(strings.TrimRight(w, ".,;:!)")))
	})
	for end := min(len(words), i+maxBetween); i < end && !slices.Contains(breaks, lower(i)); i++ {
		word := strings.Trim(lower(i), "`'\"([")
		name := strings.TrimRight(word, ".,;:!?)]")
		object = strings.Trim(name, "`'\"")
		kind = objectOf(object)
		if kind != "" && (name != word || i+1 == len(words) || follows(lower(i+1)) || returns && slices.Contains(conditions, lower(i+1))) {
			return kind, object
		}
		if name != word {
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
	case slices.Contains(unlike, name):
		return ""
	case strings.HasPrefix(name, "test_"), slices.ContainsFunc(ofTests, func(end string) bool { return strings.HasSuffix(name, end) }):
		return Test
	}
	return ""
}

// sentences are the title, the sentences and the list items of a text, without what stands before their first word.
func sentences(text string) (all []string) {
	var paragraphs []string
	afterTitle := true
	for i, line := range strings.SplitN(text, "\n", maxSaidLines+1) {
		if i == maxSaidLines {
			break
		}
		line = strings.TrimSpace(line)
		if m := merge.FindStringSubmatch(line); m != nil {
			line = strings.NewReplacer("-", " ", "_", " ", "/", " ").Replace(m[1])
		}
		if afterTitle || line == "" || item.MatchString(line) {
			paragraphs = append(paragraphs, line)
		} else {
			paragraphs[len(paragraphs)-1] += " " + line
		}
		afterTitle = i == 0
	}
	for _, p := range paragraphs {
		for _, s := range strings.Split(p, ". ") {
			all = append(all, prefix.ReplaceAllString(s, ""))
		}
	}
	return all
}
