package code

import (
	_ "embed"
	"regexp"
	"strings"
	"time"

	"touchstone/verdict/guard/table"
)

//go:embed words.txt
var wordsText string

var vocabulary = table.Read(wordsText)

// The words and patterns that words.txt lists and explains under these names.
var (
	accepting         = setOf("accepting")
	adding            = patternsOf("adding")
	assertionPrefixes = vocabulary.Words("assertionPrefixes")
	attended          = patternsOf("attended")
	aware             = setOf("aware")
	beforeOperand     = setOf("beforeOperand")
	callers           = setOf("callers")
	common            = setOf("common")
	compared          = setOf("compared")
	conditional       = setOf("conditional")
	constants         = setOf("constants")
	control           = setOf("control")
	deciding          = setOf("deciding")
	digits            = setOf("digits")
	durations         = valued(vocabulary, "durations", func(text string) time.Duration { d, _ := time.ParseDuration(text); return d })
	ending            = setOf("ending")
	exactAssertions   = setOf("exactAssertions")
	failures          = setOf("failures")
	fixed             = setOf("fixed")
	forever           = vocabulary.Words("forever")
	hiding            = setOf("hiding")
	idleInfo          = setOf("idleInfo")
	idleWords         = setOf("idleWords")
	importing         = setOf("importing")
	inherited         = setOf("inherited")
	joining           = setOf("joining")
	looseWords        = setOf("looseWords")
	modifiers         = setOf("modifiers")
	needing           = patternsOf("needing")
	neutral           = setOf("neutral")
	operators         = setOf("operators")
	passedOver        = patternsBy("passedOver")
	platform          = patternsOf("platform")
	receivers         = setOf("receivers")
	results           = setOf("results")
	setAside          = patternsOf("setAside")
	setting           = patternsOf("setting")
	setUpBlocks       = setOf("setUpBlocks")
	setUps            = setOf("setUps")
	skippedBy         = patternsOf("skippedBy")
	skipReasons       = vocabulary.Words("skipReasons")
	statement         = setOf("statement")
	statements        = setOf("statements")
	strengths         = valued(vocabulary, "strengths", func(digit string) int { return int(digit[0] - '0') })
	subjects          = setOf("subjects")
	suppressing       = setOf("suppressing")
	taken             = patternsBy("taken")
	takenByOthers     = patternsBy("takenByOthers")
	testData          = setOf("testData")
	testMarks         = setOf("testMarks")
	testPaths         = patternsOf("testPaths")
	testScripts       = setOf("testScripts")
	tMethods          = setOf("tMethods")
	tolerating        = vocabulary.Names("tolerating")
	truths            = setOf("truths")
	usualMarks        = setOf("usualMarks")
	wiring            = setOf("wiring")
)

// setOf is the set of words of a section of words.txt.
func setOf(section string) map[string]bool { return set(vocabulary.Text(section)) }

// patternsOf are the patterns of a section of words.txt, one a line, and patternsBy those of one by language.
func patternsOf(section string) (all []*regexp.Regexp) {
	for _, line := range vocabulary.Lines(section) {
		all = append(all, regexp.MustCompile(line))
	}
	return all
}

func patternsBy(section string) map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{}
	for language, pattern := range vocabulary.Pairs(section) {
		out[language] = regexp.MustCompile(pattern)
	}
	return out
}

// valued gives the names of a section the values that are before them.
func valued[V any](from table.Table, section string, value func(text string) V) map[string]V {
	out := map[string]V{}
	for name, text := range from.Names(section) {
		out[name] = value(text)
	}
	return out
}

// set makes a set from the words of a text.
func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}
