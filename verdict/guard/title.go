package guard

import (
	"regexp"
	"slices"
	"strings"
)

// maxBetween bounds how many words stand between verb and object.
const maxBetween = 8

// minName is how long the name of something that is no check must be: the 8 of a version is in many lines.
const minName = 3

// omission is what a title says that a change leaves out.
type omission struct {
	kind   Kind
	object string // what the title calls it, in lower letters
	named  bool   // it counts only where the object is named
	gone   bool   // it is removed, and counts only where something is
	any    bool   // it may be no check at all, and counts only where something is checked
}

// removes matches the verb of a title by which something is removed.
const removes = `(?i)^(?:remov|delet|drop)\w* `

var (
	// prefix is what stands before the first word of a title: marks, and the part that it is about.
	prefix = regexp.MustCompile(`^(?:[\s>*+\p{So}\x{FE0F}-]+|[\w/., #-]{1,24}(?:\([^)]*\))?!?:\s+|\[[^\]]*\]\s*|` +
		`(?:\([A-Z]+-\d+\)|[A-Z]+-\d+\.?|#\d+)\s+|:[a-z_]+:\s*)*`)
	// shaky removes a test or an assertion that was not reliable, and faulty all tests of which a title says that they show nothing.
	shaky = regexp.MustCompile(removes + `(?:(?:\S+ ){0,2}` + shakes + ` .*(?:test|spec|assertion)|` +
		`(?:\S+ ){0,3}tests?,? (?:(?:as|because|since|that|which) (?:\w+ ){1,2})?` + shakes + `\b)`)
	faulty = regexp.MustCompile(removes + `(?:\S+ ){0,2}(?:` + strings.Join(vocabulary.Words("faulty"), "|") +
		`) (?:\w+ )?(?:tests?|testcases?|specs?)(?: \([^)]*\))?[.!]?$`)
	// closed removes one pipeline by its file.
	closed = regexp.MustCompile(removes + "(?:the )?[`'\"]?(?:[\\w.-]+/)*([\\w.-]+\\.ya?ml)\\b")
	// closes removes a check from the pipeline, and with stands before what goes along with something else.
	closes = regexp.MustCompile(removes + `.*\b(?:ci|codecov|codeql|coverage|coveralls|` +
		`jobs?|pipelines?|scan\w*|sonar\w*|tests?|workflows?)(?:[^\w/-]|$)`)
	// checked removes what is called a check, which in most titles is a condition of the code.
	checked = regexp.MustCompile(removes + "(?:.* )?[`'\"]?([\\w.-]{3,})[`'\"]? checks?(?:[^\\w/-]|$)")
	with    = regexp.MustCompile(`(?i)\b(?:and|with) (?:its|their)\b|(?:\+|&|\band) (?:adjust|chang|clean|fix|mov|renam|updat)`)
	// excused says why nothing is left out. Without the words of a title what it removes is evidence.
	excused = regexp.MustCompile(`(?i)\b(?:unused|(?:in )?favou?r of|instead|moved|migrated|redundant|replaced|obsolete)\b`)
	// feature adds something to the product, which may skip tests of others. See https://www.conventionalcommits.org
	feature = regexp.MustCompile(`(?i)^feat(?:ure)? ?(?:\([^)]*\))?!?:`)
	// unsteady matches a word for what is not reliable, as shakes does in a sentence, ruleID a linter's number for a rule, and coded a
	// name of code.
	unsteady = regexp.MustCompile(`^` + shakes + `$`)
	shakes   = `(?:` + strings.Join(vocabulary.Words("unsteady"), "|") + `)`
	ruleID   = regexp.MustCompile(`^[A-Z]{1,6}\d{3,4}$`)
	coded    = regexp.MustCompile("^`|[\\w][._]\\w|[a-z][A-Z]")
	// bracketed matches what a sentence says by the way.
	bracketed = regexp.MustCompile(`(?:^| )\([^)]*\)`)
	// quoted matches names of several words, which say nothing by themselves.
	quoted = regexp.MustCompile(`"[^"]+ [^"]*"|“[^”]+ [^”]*”`)
	// tag tells a service not to run for a commit, temporary is the adverb as it is also written, and moment another "for now".
	tag       = regexp.MustCompile(`(?i)\s*\[(?:skip[ -]ci|ci[ -]skip|no ci)\]`)
	temporary = regexp.MustCompile(`(?i)^temp(?:orary)? `)
	moment    = regexp.MustCompile(`(?i)\bfor the (?:moment|time being)\b`)
)

// read is what a sentence says that is left out, and false if it says no such thing.
func read(s string) (omission, bool) {
	s = moment.ReplaceAllString(temporary.ReplaceAllString(tag.ReplaceAllString(s, ""), "temporarily "), "for now")
	if o := skips(strings.ReplaceAll(quoted.ReplaceAllString(s, "“…”"), "test case", "testcase")); o.kind != "" {
		return o, true
	}
	if o := skips(s); o.kind != "" { // the check itself is quoted
		return o, true
	}
	if object := pauses(s); object != "" {
		return omission{kind: Strictness, object: object, named: true, any: true}, true
	}
	if shaky.MatchString(s) || faulty.MatchString(s) {
		return omission{kind: Test, gone: true}, true
	}
	first, why := with.Split(s, 2)[0], excused.MatchString(s)
	if closes.MatchString(closed.ReplaceAllString(first, "remove ")) && !why {
		return omission{kind: CI, gone: true}, true
	}
	m := closed.FindStringSubmatch(s)
	if m == nil && !why {
		m = checked.FindStringSubmatch(first)
	}
	if m == nil {
		return omission{}, false
	}
	return omission{kind: CI, object: strings.ToLower(m[1]), named: true, gone: true}, true
}

// skips is the check that a sentence says is skipped, switched off or the like. Its kind is "" if the sentence says no such thing.
func skips(sentence string) omission {
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
		return omission{}
	}
	returns := slices.ContainsFunc(words, isForNow)
	written := strings.Fields(bracketed.ReplaceAllString(strings.Join(strings.Fields(sentence)[i:], " "), ""))
	words, i = strings.Fields(strings.ToLower(strings.Join(written, " "))), 0
	var kind Kind
	where := false // what follows says where something else is left out
	shaken := false
	for end := min(len(words), i+maxBetween); i < end && !slices.Contains(breaks, words[i]) && words[i][0] != '('; i++ {
		word := strings.Trim(words[i], "`'\"([")
		name := strings.TrimRight(word, ".,;:!?)]")
		object := strings.Trim(name, "`'\"")
		kind, shaken = objectOf(object), shaken || unsteady.MatchString(object)
		rule := ruleID.MatchString(strings.Trim(written[i], "`'\"().,;:!?[]")) // or SHA256
		if rule {
			kind = Strictness
		}
		if where = where || name == "on"; where && kind == Test {
			break
		}
		switch {
		case kind == "":
		case name != word || ends(words[i+1:], returns):
			return omission{kind: kind, object: object, named: rule, any: rule}
		case coded.MatchString(written[i+1]) && (ends(words[i+2:], returns) || slices.Contains(owners, words[i+2])): // the test's own name
			return omission{kind: kind, object: strings.Trim(words[i+1], "`'\".,;:!"), named: !shaken}
		}
		if name != word || slices.Contains(uploads, name) && (i+1 == len(words) || objectOf(words[i+1]) == "") {
			break
		}
	}
	return omission{}
}

// pauses is the last word of what a sentence says is left out for now, whatever it is; "" if it says no such thing.
func pauses(sentence string) string {
	words := strings.Fields(strings.ToLower(bracketed.ReplaceAllString(sentence, "")))
	if !slices.ContainsFunc(words, isForNow) {
		return ""
	}
	if slices.Contains(hints, words[0]) {
		words = words[1:]
	}
	if len(words) < 2 || !slices.Contains(leaves, words[0]) {
		return ""
	}
	end := 1 + slices.IndexFunc(words[1:], func(w string) bool {
		return isForNow(w) || slices.Contains(breaks, w) || slices.Contains(conditions, w) || slices.Contains(behind, w)
	})
	if end == 0 {
		end = len(words)
	}
	object := strings.Trim(words[end-1], "`'\"([.,;:!")
	if end == 1 || len(object) < minName || slices.Contains(articles, object) ||
		slices.ContainsFunc(deliveries, func(d string) bool { return strings.HasSuffix(object, d) }) {
		return ""
	}
	return object
}

// isForNow reports whether a word says that something is to come back.
func isForNow(word string) bool { return slices.Contains(forNow, strings.TrimRight(word, ".,;:!)")) }

// ends reports whether what is left out can be named before these words of a sentence that says that it returns, or does not.
func ends(words []string, returns bool) bool {
	return len(words) == 0 || follows(words[0]) || inPipeline(words) || returns && slices.Contains(conditions, words[0])
}

// follows reports whether a word, or a mark, can stand behind the object.
func follows(word string) bool {
	word = strings.TrimRight(word, ".,;:!")
	return unsteady.MatchString(word) || slices.Contains(behind, word) || isForNow(word) || strings.IndexAny(word, "(#[-–—") == 0
}

// inPipeline reports whether words begin with "in CI" or the like: then nothing that decides runs the check any more.
func inPipeline(words []string) bool {
	if len(words) < 2 || !slices.Contains(places, words[0]) {
		return false
	}
	i := 1
	if slices.Contains(articles, words[1]) && len(words) > 2 {
		i++
	}
	if !slices.Contains(pipelines, strings.TrimRight(words[i], ".,;:!)")) {
		return false
	}
	for i < len(words) && slices.Contains(pipelines, words[i]) {
		i++
	}
	return i == len(words) || strings.HasSuffix(words[i], ",") || objectOf(words[i]) != "" || follows(words[i]) ||
		slices.Contains(breaks, words[i]) || slices.Contains(conditions, words[i])
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
