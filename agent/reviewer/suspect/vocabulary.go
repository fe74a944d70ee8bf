package suspect

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// pattern is one way to speak to a reviewing machine. It is matched against
// readings, which are in lower case.
type pattern struct {
	// why says to people what the text does, after its name.
	why string
	// words are so rare that a text with none of them is not matched at all: one of
	// them is in whatever the pattern matches.
	words []string
	// with, if set, are more of which one has to be there as well.
	with []string
	// forms are the texts that it is looked for in; nil is all.
	forms []Form
	// bare says that it is one even where signs stand between its words.
	bare bool
	// any are its sentences. A blank is any white space; words in angle brackets
	// are parts of the vocabulary.
	any func() *regexp.Regexp
	// unless is what may follow to make it ordinary.
	unless *regexp.Regexp
}

func (p pattern) in(f Form) bool { return p.forms == nil || slices.Contains(p.forms, f) }

// find is where a text has the pattern.
func (p pattern) find(text string) [][]int {
	if !hasAny(text, p.words) || p.with != nil && !hasAny(text, p.with) {
		return nil
	}
	found := p.any().FindAllStringIndex(text, MaxHolds)
	return slices.DeleteFunc(found, func(at []int) bool { return p.unless != nil && p.unless.MatchString(text[at[1]:]) })
}

func hasAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// anyOf compiles sentences when they are first looked for: few commands of the agent look
// for any, and all of them together take longer than anything else at a command's start.
func anyOf(forms ...string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		// A part of the vocabulary may be made of others.
		text := vocabulary.Replace(vocabulary.Replace(strings.Join(forms, "|")))
		return regexp.MustCompile("(?ms)" + strings.NewReplacer("‹", "<", "›", ">", " ", `\s`).Replace(text))
	})
}

// vocabulary are the parts that sentences are made of. Real angle brackets are
// written ‹ and ›.
var vocabulary = strings.NewReplacer(
	// up to so many words, within the sentence
	"<1>", `(?:\S*[^\s.!?;] )?`, "<2>", `(?:\S*[^\s.!?;] ){0,2}`, "<3>", `(?:\S*[^\s.!?;] ){0,3}`, "<4>", `(?:\S*[^\s.!?;] ){0,4}`,
	"<6>", `(?:\S*[^\s.!?;] ){0,6}`, "<8>", `(?:\S*[^\s.!?;] ){0,8}`, "<rest>", `[^.!?;]{0,120}?`,
	// who is spoken to
	"<machine>", `(?:<kind>(?:[- ](?:powered|based|driven|assisted))?(?: code)?(?: review(?:er|ing|s)?)?(?: <device>)?|(?:review(?:er|ing)?|coding) (?:agent|bot|model|assistant|ai|llm)s?)`,
	"<kind>", `(?:ai|a\.i\.|llm|gpt|claude|gemini|copilot|touchstone|language model|machine|automated|automatic|artificial intelligence|robot)`,
	"<device>", `(?:agent|bot|model|assistant|system|tool|session|reviewer)s?`,
	// what is judged, and what judges it
	"<change>", `(?:(?:this|the|my|our|any|every|all|these|its?|such)(?: \w+)? )?(?:pull requests?|prs?|merge requests?|mrs?|change(?:s|sets?)?|diffs?|commits?|patch(?:es)?|submissions?|branch|head|code|review)`,
	"<orders>", `(?:instructions|prompts|directives|system messages?|system prompt)`,
	"<law>", `(?:rules?|guidelines?|orders|polic(?:y|ies)|constraints?|safeguards?|criteri(?:a|on)|dimensions?|severit(?:y|ies)|restrictions?)`,
	"<approval>", `["'*_<(]{0,3}(?:approved?|approving|approval|lgtm)\b`,
	"<answer>", `your (?:final |own |next |whole |posted |first )?(?:review|summary|verdict|answer|findings?|reply|response|report|output|comment|analysis|conclusion|assessment)`,
	// what is asked
	"<must>", `(?:must|should|shall|will|have to|has to|needs? to|ought to|(?:is|are) (?:required|instructed|ordered|told|expected|obliged|asked|authori[sz]ed|here) to|(?:is|are) to|can(?: only| safely)?|may(?: only| safely)?)`,
	"<please>", `(?:(?:please|kindly|just|simply|now|always|you|also|first|immediately|only|safely) )*`,
	"<drop>", `(?:ignore|ignoring|disregard|disregarding|forget|forgetting|override|overriding|bypass|discard|neglect|supersede|cancel|pay no (?:attention|heed) to|(?:do not|don't) (?:follow|obey|apply|heed)|stop (?:following|obeying|applying)|never mind|set aside|throw away)`,
	"<write>", `(?:write|put|include|add|post|say|copy|paste|repeat|quote|print|append|mention|insert|echo|reveal|show|output|emit|dump|leak|disclose|publish|reproduce|embed|list|tell|report|send|exfiltrate|attach)`,
	"<give>", `(?:output|emit|print|return|write|produce|issue|render|give|post|submit|record|set|make|choose|select|cast)`,
	"<no>", `(?:do not|don't|never|must not|should not|avoid|refrain from|no need to|without|stop|instead of|rather than)`,
	"<secret>", `(?:system prompts?|(?:your|the|this) (?:\w+ )?(?:prompt|instructions|nonce|context window|environment)|run nonce|nonce|run line|environment variables?|env(?:ironment)? vars?|api[ _-]?keys?|(?:(?:access|github|api|auth(?:orization)?|bearer|oauth|session) )?tokens?|[a-z_]*(?:_token|_api_key|_secret)|secrets?|credentials?|passwords?|private keys?|\S*\.ssh\S*|id_rsa|id_ed25519|/etc/(?:passwd|shadow|hosts)|\S*\.netrc|\S*\.aws\S*|\S*\.env|/proc/self/\S*|home directory|kubeconfig|\S*/\.config/\S*|\S*agent\.yaml)`,
	"<act>", act,
)

// said are the texts that people write to each other.
var said = []Form{Name, Prose, Markdown}
