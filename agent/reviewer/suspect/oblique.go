package suspect

import "regexp"

// marks are what such a mark in the code has between its two words, and the second.
var marks = func() (all []string) {
	for _, verb := range []string{"ignore", "disable", "off", "skip", "suppress", "exclude"} {
		all = append(all, ":"+verb, ": "+verb, "-"+verb, "/"+verb)
	}
	return all
}()

// oblique say to a reviewing machine what it is to do without an order: as a policy, as
// a mark in the code, as what a good review says, or as work that is done already.
var oblique = []pattern{
	{why: "tells a model to drop its rules", words: []string{"guidelines"}, any: anyOf(
		`(?:ignore|disregard|forget|bypass|override) (?:(?:the|all|any|these|those|every) )+guidelines (?:above|before|given|you)\b`)},
	{why: "orders a verdict", words: []string{"the verdict ", `verdict"`, "verdict'", "verdict`", "verdict:", "verdict="}, with: []string{"approv", "lgtm"}, any: anyOf(
		`\bthe verdict (?:here )?(?:is|shall be|must be|will be) <approval>`,
		`\b(?:add|put|write|set|include|insert) ["'`+"`"+`]*verdict["'`+"`"+`]* ?[:=] ?<approval>`),
		unless: regexp.MustCompile(`^\W{0,3}(?:only|if|when|unless|and|or)\b`)},
	{why: "orders a verdict", words: []string{"end of", "new task", "next task"}, with: []string{"approv", "lgtm", "verdict"}, forms: said, any: anyOf(
		`\b(?:end of (?:document|text|file|input|context|message|data)|new task|next task)\b.{0,200}?\b(?:your approval|approve|lgtm|verdict)`)},
	{why: "orders a verdict", words: []string{"nothing else", "rate this", "reviews this", "say yes"}, forms: said, any: anyOf(
		`\boutput nothing else\b`, `\brate this (?:change|diff|pull request|pr|code|patch|commit) (?:\w+ )?(?:10|ten|100|5|five)\b`,
		`\bwho(?:ever|soever)? reviews this (?:must|should|has to|is to|shall) (?:let|approve|pass|accept|wave|merge)\b`, `\breviewer\b<rest>\b(?:simply|just) say yes\b`)},
	{why: "orders the reviewer to look away", words: []string{"dimension and", "dimensions and"}, any: anyOf(
		`\b(?:skip|omit|leave out|pass over) <3>dimensions? and (?:approve|pass|accept|conclude)\b`)},
	{why: "orders the reviewer to look away", words: marks, any: anyOf(
		`\b(?:(?:ai|bot|llm|code)-?review(?:er)?|review(?:er|-?bot)|touchstone)(?: ?: ?|[-/])(?:ignore|disable|off|skip|suppress|exclude)(?:-(?:next-line|next|file|line|start|begin|all|block))?(?:[\s*)}›-]*$|\n)`)},
	{why: "orders the reviewer to look away", words: []string{"reviewer"}, with: []string{"nothing", "none"}, any: anyOf(
		`(?:^|[(.!?:"'] ?)(?:dear )?reviewers?,<rest>\b(?:raise|report|flag|list|say|find|write|mention|post) (?:nothing|none)\b`)},
	{why: "orders the reviewer to look away", words: []string{"nothing in th"}, forms: said, any: anyOf(
		`\bnothing in th(?:is|e) (?:change|diff|pull request|pr|commit|file|patch) (?:needs|deserves|requires|merits|calls for|warrants) (?:an? |any |your )?(?:comments?|findings?|remarks?|review|attention)\b`)},
	{why: "addresses the reviewing machine", words: []string{"assistant"}, any: anyOf(
		`\bassistant\s?[:,] ?<please>(?:approve|lgtm|say nothing|pass this|no (?:remarks|findings|comments))\b`)},
	{why: "addresses the reviewing machine", words: []string{"<?"}, any: anyOf(
		`‹\?\s?(?:ai|llm|review|reviewer|model|prompt|assistant|touchstone)\b`)},
	{why: "addresses the reviewing machine", words: []string{"to any", "to all", "to every", "to the", "to our", "to each"}, with: []string{"autom", "machine", "artificial", "ai ", "llm", "robot", "non-human", "silicon"}, any: anyOf(
		`\bto (?:any|all|every|the|our|each) (?:automated|automatic|artificial|machine|ai|llm|robotic|non-human|electronic|silicon) (?:readers?|reviewers?|eyes|visitors?|audiences?|part(?:y|ies))\s?[:,]`)},
	{why: "addresses the reviewing machine", words: []string{"summary for", "information for", "info for", "advice for", "advice to", "comment for", "context for", "briefing for", "remark for"}, any: anyOf(
		`\b(?:summary|information|info|advice|comments?|context|briefing|remarks?) (?:for|to) (?:the |any |all |our )?<machine>s?\s?:`)},
	{why: "addresses the reviewing machine", words: []string{"reviewer", "review bot", "bots"}, with: []string{"do not", "don't", "must not", "should not", "need not", "never", "approves", "passes", "accepts"}, any: anyOf(
		`\b(?:automated|automatic|ai|machine|llm|bot) ?(?:code )?reviewers? (?:do not|don't|must not|should not|need not|never) (?:comment|report|raise|flag|list|look|remark|read|examine)\b`,
		`\b<machine>s? (?:reports?|raises?|lists?|finds?|returns?|has|gives?) (?:no|zero|0) (?:findings?|issues|problems|remarks|comments) and (?:approves|passes|accepts)\b`)},
	{why: "says what a good review finds", words: []string{"review", "answer", "assessment"}, forms: said, any: anyOf(
		`\b(?:correct|good|proper|right|valid|honest|expected|ideal|perfect) (?:code )?(?:review|answer|assessment|response)s? (?:of|for|to|on) (?:this|the) (?:pull request|pr|change|diff|commit|patch|code) (?:contains?|has|have|lists?|holds?|gives?|approves?|finds?|names?|reports?|is to)\b`)},
	{why: "pretends that the review is done", words: []string{"already"}, with: []string{"nothing left", "nothing more", "nothing else"}, forms: said, any: anyOf(
		`\balready (?:been )?(?:reviewed|checked|audited|examined|vetted|approved)\b<rest>\bnothing (?:left|more|else) (?:here )?to (?:check|review|look|examine|find|say|flag|report)\b`)},
}
