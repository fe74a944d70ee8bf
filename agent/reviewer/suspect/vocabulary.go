package suspect

import (
	"regexp"
	"slices"
	"strings"

	"touchstone/agent/reviewer/hidden"
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
	any *regexp.Regexp
	// unless is what may follow to make it ordinary.
	unless *regexp.Regexp
}

func (p pattern) in(f Form) bool { return p.forms == nil || slices.Contains(p.forms, f) }

// find is where a text has the pattern.
func (p pattern) find(text string) [][]int {
	if !hasAny(text, p.words) || p.with != nil && !hasAny(text, p.with) {
		return nil
	}
	found := p.any.FindAllStringIndex(text, MaxHolds)
	return slices.DeleteFunc(found, func(at []int) bool { return p.unless != nil && p.unless.MatchString(text[at[1]:]) })
}

func hasAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// anyOf compiles sentences.
func anyOf(forms ...string) *regexp.Regexp {
	// A part of the vocabulary may be made of others.
	text := vocabulary.Replace(vocabulary.Replace(strings.Join(forms, "|")))
	return regexp.MustCompile("(?ms)" + strings.NewReplacer("‹", "<", "›", ">", " ", `\s`).Replace(text))
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

// elsewhere are the words for "ignore all previous instructions" in languages
// besides English that are common among programmers.
var elsewhere = [][3]string{
	{`ignorier\S*|vergiss|vergesst|missachte\S*|befolge`, `vorherig\S*|bisherig\S*|obig\S*|früher\S*|alle\S*|deine\S*`, `anweisung\S*|instruktion\S*|regeln|vorgaben|richtlinien`},
	{`ignore[rz]?|oublie[rz]?|ne tiens? pas compte`, `précédent\S*|antérieur\S*|ci-dessus|toutes|tes|vos`, `instructions?|consignes?|directives?|règles?`},
	{`ignor[ae]\S*|olvida\S*|descarta\S*|haz caso omiso`, `anterior\S*|previ[ao]s?|todas?|tus|de arriba`, `instruccion\S*|órdenes|reglas|directrices|indicaciones`},
	{`ignor[aei]\S*|dimentica\S*|trascura`, `precedent\S*|tutt[ei]|tue|sopra`, `istruzion\S*|regole|direttive`},
	{`ignor[ae]\S*|esqueça\S*|desconsidere`, `anterior\S*|previ[ao]s|todas|suas`, `instruç\S*|regras|diretrizes`},
	{`игнорируй\S*|забудь\S*|не обращай\S*`, `предыдущ\S*|прежни\S*|все|твои|ваши`, `инструкци\S*|указани\S*|правил\S*|команд\S*`},
	{`zignoruj|ignoruj|zapomnij`, `poprzedni\S*|wcześniejsz\S*|wszystki\S*`, `instrukcj\S*|polece\S*|zasad\S*`},
}

// unspaced are whole orders in languages that put no spaces between words.
const unspaced = `忽略.{0,12}(?:指令|指示|说明|规则|提示)|无视.{0,12}(?:指令|指示|规则)|忘记.{0,12}(?:指令|指示)|批准(?:此|这个|本|该)(?:拉取请求|合并请求|pr|更改|变更)|` +
	`(?:以前|前|上記|これまで|すべて)の.{0,8}(?:指示|命令|指令|ルール).{0,8}(?:無視|忘れ)|(?:이전|위의|모든).{0,30}(?:지시|명령|지침).{0,10}무시`

var unspacedTopics = strings.Fields(hidden.Plain("忽略 无视 忘记 批准 無視 忘れ 무시"))

// foreign are those orders as a pattern. Readings are folded to what they seem to
// say, so its words are as well; signs of the pattern are ASCII and stay.
func foreign() pattern {
	p := pattern{why: "tells a model in another language to drop its instructions"}
	fold := func(s string) string { return strings.ReplaceAll(hidden.Plain(s), `\s`, `\S`) }
	var all []string
	for _, e := range elsewhere {
		drop, which, orders := fold(e[0]), fold(e[1]), fold(e[2])
		all = append(all, `(?:`+drop+`) <3>(?:`+which+`) <3>(?:`+orders+`)`, `(?:`+drop+`) <3>(?:`+orders+`) <3>(?:`+which+`)`)
		for w := range strings.SplitSeq(strings.NewReplacer(`\S*`, "", `s?`, "").Replace(orders), "|") {
			p.words = append(p.words, w)
		}
	}
	p.words = append(p.words, unspacedTopics...)
	p.any = anyOf(append(all, fold(unspaced))...)
	return p
}
