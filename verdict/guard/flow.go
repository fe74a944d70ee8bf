package guard

import (
	"regexp"
	"slices"
	"strings"
)

// flow is what a test does to come to its assertions: the lines that each of its
// variables got a value by. It knows names, not types, and is right about the short
// and straight code that most tests are.
type flow struct {
	lines map[string][]string
}

var (
	assignment = regexp.MustCompile(`([\pL_]\w*(?:\s*,\s*[\pL_]\w*)*)(?:\s*:\s*[^=]+?)?\s*:?=\s*([^=>~\s].*)$`)
	loop       = regexp.MustCompile(`\bfor\s+\(?(?:const |let |var |auto )?([\pL_]\w*(?:\s*,\s*[\pL_]\w*)*)\s+(?:in|of|:)\s+(.*)$|\bwith (.+) as ([\pL_]\w*)`)
	literals   = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`|\\b\\d[\\w.]*")
	identifier = regexp.MustCompile(`[\pL_][\pL\pN_]*[!?]?`)
	call       = regexp.MustCompile(`([\pL_][\pL\pN_]*[!?]?)(?:::<[^>]*>|\[[\w.]+\])?\(`)
)

const (
	// maxFlow bounds the lines that one value is followed through.
	maxFlow = 200
	// maxValues bounds the lines that are known to give one variable its value.
	maxValues = 20
)

func flowOf(t *testcase) *flow {
	f := &flow{map[string][]string{}}
	body := t.body()
	for i, line := range body {
		if i == 0 && len(body) > 1 {
			continue
		}
		text := strings.TrimSpace(line)
		names, value := "", ""
		if m := loop.FindStringSubmatch(text); m != nil {
			names, value = m[1]+m[4], m[2]+m[3]
		} else if m := assignment.FindStringSubmatch(text); m != nil {
			names, value = m[1], m[2]
		}
		for name := range strings.SplitSeq(names, ",") {
			if name = strings.TrimSpace(name); name != "" && name != "_" && len(f.lines[name]) < maxValues {
				f.lines[name] = append(append(f.lines[name], value), nestedLines(body, i)...)
			}
		}
	}
	return f
}

// nestedLines are the lines that what a line opens goes on with.
func nestedLines(body []string, i int) []string {
	text := strings.TrimSpace(body[i])
	if text == "" || strings.HasPrefix(text, "if ") || strings.HasPrefix(text, "for ") || !strings.ContainsRune("({[|:", rune(text[len(text)-1])) {
		return nil
	}
	return body[i+1 : min(stopOf(body, i+1), i+1+maxFlow)]
}

// into are the lines that a claim of the test looks at: its own, and those that gave
// its variables their values.
func (f *flow) into(t *testcase, c claim) []string {
	out := []string{c.text}
	if i := c.line - t.start; i >= 0 && i < len(t.body()) && !goCondition.MatchString(c.text) {
		out = append(out, nestedLines(t.body(), i)...)
	}
	seen := map[string]bool{}
	for i := 0; i < len(out) && len(out) < maxFlow; i++ {
		for _, name := range identifier.FindAllString(literals.ReplaceAllString(out[i], " "), -1) {
			if !seen[name] {
				seen[name] = true
				out = append(out, f.lines[name]...)
			}
		}
	}
	return out
}

// common are words that assertions, languages and their libraries have in common.
var common = regexp.MustCompile(`^(?:to(?:_not|_eq|_s|_string|_owned|_vec|String|Be\w*|Equal\w*|Have\w*|Match\w*|Contain\w*|Strict\w*|Throw\w*)?|` +
	`(?i:assert(?:_?(?:eq|ne|equals?|not_?equals?|true|false|that|same|not_?same|null|not_?null|is_?none|is_?not_?none|in|not_?in|is|is_?instance\w*|array_?equals|almost_?equals?|raises|throws|nil|not_?nil|empty|includes|matches))?|` +
	`expect|require|should|t|b|not|is|equals?|be|with|that|if|for|while|in|of|nil|none|null|true|false|self|this|eq|eql|the|a|contains?|await|async|func|function|lambda|return|range|and|or|const|let|var|val|mut|new|` +
	`len|cap|size|length|count|u?int\d*|float\d*|[iu](?:8|16|32|64|size)|f(?:32|64)|string|str|bool\w*|list|dict|set|sorted|sum|min|max|repr|print\w*|sprintf?|errorf?|fatalf?|logf?|fmt|reflect|deepequal|diff|cmp|errors|as|bytes|strings|helper|run|fail(?:now)?|` +
	`throws?|raises?|same|are(?:equal|same)|vec|some|ok|unwrap\w*|clone|into|iter|collect|map|filter|object|array|json|stringify|keys|number|date|promise|void|else|do|end|then|when|describe|it|test|get|context|background|tempdir|match|gt|lt|ge|le|ne|greater|less|approx|close))$`)

// library are calls of what languages bring along.
var library = regexp.MustCompile(`\b(?:io|os|fmt|strings|bytes|json|time|http|httptest|filepath|path|strconv|errors|context|slices|maps|sort|regexp|math|rand|sync|atomic|exec|url|base64|hex|sha256|binary|bufio|utf8|testing|cmp|reflect|fs|random|re|copy|itertools|functools|datetime|Math|Object|Array|JSON|Date|Collections|Arrays|List|Map|Set|Files|Paths|Path|Duration|LocalDate)(?:\.\w+){1,2}\(`)

// calls are the names of functions in some lines that are not common ones, in order.
func calls(lines []string) []string {
	var out []string
	for _, line := range lines {
		line = library.ReplaceAllString(literals.ReplaceAllString(line, `""`), "(")
		for _, m := range call.FindAllStringSubmatch(line, -1) {
			if !common.MatchString(m[1]) {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// constant reports whether a claim looks at nothing but what the test itself says.
func (f *flow) constant(t *testcase, c claim) bool {
	if vague := strings.ContainsAny(c.text, "({[") && strings.ContainsRune("({[", rune(c.text[len(c.text)-1])) && !goCondition.MatchString(c.text); vague {
		return false
	}
	for _, line := range f.into(t, c) {
		line = literals.ReplaceAllString(line, " ")
		for _, name := range identifier.FindAllString(line, -1) {
			if f.lines[name] == nil && !common.MatchString(name) {
				return false
			}
		}
	}
	return true
}

// messages are lines that only say what failed.
var messages = regexp.MustCompile(`^(?:[tb]\.(?:Fatal|Error|Log|Skip)\w*\(|print\w*\(|console\.\w+\(|//|#|\*|log\.\w+\()`)

// deaf reports whether a test no longer calls what a claim that is gone looked at,
// and has come to speak of nothing else instead. Of both tests it is given the flow,
// and the names that they speak of.
func deaf(b *testcase, r claim, old, own *flow, had, speaks map[string]bool) bool {
	looked := calls([]string{r.text})
	if len(looked) == 0 {
		looked = calls(old.into(b, r))
	}
	if len(looked) == 0 || slices.ContainsFunc(looked, func(name string) bool { return speaks[name] }) {
		return false
	}
	for name := range speaks {
		if !had[name] && own.lines[name] == nil && !common.MatchString(name) {
			return false
		}
	}
	return true
}

// speaks are the names in a test's body, but for those that only a message has.
func (t *testcase) speaks() map[string]bool {
	out := map[string]bool{}
	for i, line := range t.body() {
		text := strings.TrimSpace(line)
		if i == 0 && t.stop > t.start {
			_, text, _ = strings.Cut(text, "(") // not its own name, but its parameters
		}
		if messages.MatchString(text) {
			continue
		}
		for _, name := range identifier.FindAllString(literals.ReplaceAllString(text, " "), -1) {
			out[name] = true
		}
	}
	return out
}
