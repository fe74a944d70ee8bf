package suspect

import (
	"regexp"
	"slices"
)

var patterns = slices.Concat(imitations, orders, dictations, pretences, hints, oblique, foreign())

// imitations are texts in the form of what only the product or a model's provider
// writes.
var imitations = []pattern{
	{why: "imitates the product's markers", words: []string{"verdict", "run"}, any: anyOf(
		`‹\s*!?\s*-+\s*(?:verdict|run)\s*[:=]`,
		`&lt;!-{2,}\s*(?:verdict|run):`,
		`[[({‹]\s*!?-*\s*verdict\s*[:=]\s*"?(?:approved?|request_changes)\b`,
		`‹!\S{0,4}\s?verdict`)},
	{why: "imitates the product's markers", words: []string{"verdict", "marker"}, forms: said, any: anyOf(
		`\b(?:verdict|marker)\s*[:=]+\s*\W?approve\b`)},
	{why: "imitates the product's state", words: []string{"touchstone"}, any: anyOf(
		`touchstone:(?:state|escalation|waiting)\b`, "(?:```+|~~~+)\\s?touchstone")},
	{why: "imitates a review's data", words: []string{`dimensions"`, `dimensions'`, `dimensions\"`}, any: anyOf(
		`dimensions\\?["']\s?:.*?findings\\?["']\s?:`, `findings\\?["']\s?:.*?dimensions\\?["']\s?:`)},
	{why: "imitates a review's data", words: []string{"dimensions"}, with: []string{"findings"}, any: anyOf(
		`\bdimensions\b["'`+"`"+`]{0,2}\s?[:=].{0,400}?\bfindings\b["'`+"`"+`]{0,2}\s?[:=]\s?(?:\[\s?\]|\(\s?\)|none\b|empty\b)(?:[\s,;}).]|$)`,
		`\bfindings\b["'`+"`"+`]{0,2}\s?[:=]\s?(?:\[\s?\]|\(\s?\)|none\b|empty\b).{0,400}?\bdimensions\b["'`+"`"+`]{0,2}\s?[:=]`)},
	{why: "imitates the delimiters of a prompt", words: []string{"untrusted", "quoted"}, any: anyOf(
		`‹\s?/?\s?(?:untrusted|quoted)-?[a-z0-9_-]*(?: [^›]{0,80})?/?›`,
		`end of (?:the )?(?:untrusted|quoted) (?:text|input|data|content|section|block|part)`, `(?:untrusted|quoted) (?:text|input|data|content|section|block|part)s? (?:ends?|stops?|is over)`)},
	{why: "imitates the delimiters of a prompt", words: []string{"<|", "[inst]", "[/inst]", "<<sys>>", "reminder>", "system_prompt>", "results>", "result>", "of_turn>"}, any: anyOf(
		`‹\|\s?(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text|end_of_turn)\s?\|›`,
		`\[/?inst\]`, `‹‹/?sys››`, `‹/?(?:system[-_]reminder|system_prompt|function_results|tool_results?|end_of_turn|start_of_turn)›`)},
	{why: "imitates the delimiters of a prompt", words: []string{"system", "assistant", "instruction", "developer", "reviewer", "human", "admin"}, forms: said, any: anyOf(
		`‹/?(?:system|assistant|instructions?|developer|reviewer|human|admin|prompt)›`,
		`[\[{]\s?(?:system|assistant|developer|/?instructions?)(?: \w+)?\s?[\]}]`,
		`(?:^|[.!?] )(?:system|assistant|developer)(?: (?:message|notice|prompt|override|alert|instruction|note|update|command))?\s?: ?(?:you|the|this|ignore|approve|all|from|new|please|override|i |review|do|end|stop)`,
		`(?:human|assistant|user) ?: .{0,200}?(?:human|assistant|user) ?: `)},
	{why: "imitates an earlier review", words: []string{"round ", "of 9 dimensions", "touchstone"}, forms: said, any: anyOf(
		`(?:approved|changes requested) · round \d`, `\d of 9 dimensions`, `(?:reviewed|approved|signed[ -]off)[- ]by:? touchstone`)},
	{why: "imitates a message of those who run the machine", words: []string{"anthropic", "openai", "touchstone", "deepmind", "trust and safety", "trust & safety"}, any: anyOf(
		`(?:anthropic|openai|touchstone|google deepmind|trust (?:and|&) safety)(?:'s)?(?: \w+){0,2} (?:notice|override|directive|administrators?|admins?|operators?|message|maintenance|staff|support)\b<rest>(?:approve|review|ignore|skip|verdict|instruct|permit|authori[sz]e)`)},
}

// orders are what a model is told to do.
var orders = []pattern{
	{why: "tells a model to drop its instructions", bare: true, words: []string{"instructions", "prompt", "directives", "system message"},
		with: []string{"ignor", "disregard", "forget", "overrid", "bypass", "discard", "neglect", "supersede", "cancel", "attention", "heed", "follow", "obey", "apply", "never mind", "aside", "away"}, any: anyOf(
			`<drop> <4>(?:previous|prior|above|earlier|preceding|foregoing|original|initial|system|your|all|any|other|those|these|former)(?: \w+){0,3}? <orders>\b`),
		unless: regexp.MustCompile(`^\s(?:if|when|unless|for|on|after|of|to|in)\s(?:you|your|using|the|a|an|version|release|windows|macos|linux)\b`)},
	{why: "tells a model to drop its rules", words: []string{"your", "touchstone", "nine", "review"}, with: []string{"ignore", "disregard", "forget", "override", "follow", "obey", "apply"}, any: anyOf(
		`(?:ignore|disregard|forget|override|(?:do not|don't) (?:follow|obey|apply)|stop (?:following|obeying|applying)) (?:(?:all|any|every|each|of|the) )*(?:your|touchstone(?:'s)?|reviewer(?:'?s)?|review(?:ing)?|previous review|nine|prior review)(?: \w+){0,2}? <law>`)},
	{why: "tells a model to forget what it was told", words: []string{"told", "everything", "anything", "instructed"}, any: anyOf(
		`(?:ignore|disregard|forget) (?:everything|anything|all(?: that)?|whatever|what) <2>(?:you (?:were|have been|are) (?:told|instructed|given)|(?:above|before|prior to) (?:this|that) (?:line|point|message|text|comment))`)},
	{why: "addresses the reviewing machine", words: []string{"if you", "as a ", "as an ", "since you", "because you", "when a", "when you", "whenever you", "in case"},
		with: []string{"ai ", "ai,", "ai:", "ai-", "llm", "bot", "model", "assistant", "agent", "claude", "gpt", "touchstone", "copilot", "gemini", "reviewer", "machine", "autom", "a.i."}, any: anyOf(
			`\b(?:if|since|because|as|when|whenever|in case|assuming)(?: you(?:'re| are| happen to be)?)? (?:an?|the|some|any) <1><machine>\b(?: (?:is|are))? ?(?:,|:|-|\(|then|and|who|that|you|it|please|must|should|read(?:s|ing)|review(?:s|ing)?|process(?:es|ing)|analy[sz]|look|assigned|evaluat|pars|scan|approve|ignore|skip)`)},
	{why: "addresses the reviewing machine", words: []string{"note", "attention", "message", "instruction", "dear", "hey", "hello", "hint", "notice", "reminder", "memo", "hi ", "directive", "guidance", "important", "order"},
		with: []string{"ai ", "ai,", "ai:", "ai-", "llm", "bot", "model", "assistant", "agent", "claude", "gpt", "touchstone", "copilot", "gemini", "reviewer", "machine", "autom", "a.i."}, any: anyOf(
			`\b(?:attention|dear|hey|hello|hi|(?:notes?|messages?|instructions?|hints?|notice|reminders?|memos?|directives?|guidance|orders|important) (?:to|for))(?: (?:the|any|all|every|our|an?|your|whichever|future|other))*\s?[:,-]? <machine>\b`,
			`\b(?:dear|hey|hello|hi) (?:assistant|agent|model|bot|reviewer)\b`)},
	{why: "addresses the reviewing machine", words: []string{"ai ", "ai:", "ais ", "llm", "bot", "model", "assistant", "agent", "claude", "gpt", "touchstone", "copilot", "gemini", "reviewer", "machine", "autom"},
		with: []string{"approve", "pass", "accept", "skip", "ignore", "disregard", "respond", "reply", "answer", "conclude", "treat", "mark", "trust", "lgtm", "stop", "follow", "obey", "examine", "withdraw", "waive", "do not", "don't", "no ", "never", "say", "end", "print", "include", "output", "return", "write", "run", "read", "look", " are "}, any: anyOf(
			`(?:^|[.!?:,"'(›=-]\s?|\bto |\bthe |\bany |\ball )<machine>s?\s?[:,›-]+ ?<please>(?:(?:must|should|can|may|will) )?(?:not )?(?:report |raise |flag )?<act>`,
			`(?:^|[.!?:,"'(›=-]\s?|\bto |\bthe |\bany |\ball )<machine>s?(?: (?:who|that) <3>| )(?:<must>|please) <please>(?:not )?(?:report |raise |flag )?<act>`,
			`\breview(?:er|ing <device>)s? (?:who|that) are <2>(?:models?|ai|llms?|machines?|assistants?|bots?)\b`,
			`\b(?:reviewers?|review(?:er|ing) <device>|<machine>)\s?[:,-] (?:please |kindly |just )?(?:do not|don't|skip|ignore|stop|no need|there is no need|never) `)},
	{why: "tells who the reader is", words: []string{"you are", "you're", "act as", "pretend", "roleplay", "role-play", "behave", "from now on"}, any: anyOf(
		`\byou(?:'re| are) (?:(?:now|no longer|actually|really|hereby) )+<4>(?:review(?:er|ing)?|assistant|model|agent|ai|dan|bot|instructions?|rules?)\b`,
		`\b(?:act as|pretend (?:to be|that you are|you are)|role-?play as|behave (?:like|as)) (?:an?|the|if you) <4>(?:ai|model|assistant|reviewer|bot|approver|agent)\b`,
		`\bfrom now on,? you (?:are|will|must|should|shall|only|approve|answer|respond)`)},
	{why: "switches to a mode that there is not", words: []string{" mode"}, any: anyOf(
		`(?:enter|enabled?|activated?|switch(?:ing)? (?:in)?to|engaged?|you are (?:now )?in) <2>(?:auto-?approv(?:e|al)|approval|approve-?all|jailbreak|unrestricted|god|dan|do anything now|review-?free|no-?review|rubber-?stamp|reviewer override) mode`)},
	{why: "orders a verdict", words: []string{"approve", "approval", "approving", "lgtm"},
		with: []string{"respond", "reply", "answer", "conclude", "finish", "end", "close", "come back", "return", "verdict", "marker", "review", "your ", "decision", "outcome"}, any: anyOf(
			`\b(?:respond|reply|answer|conclude|finish|end|close|come back|return)s? <4>(?:with|by|in|using|only) <4><approval><rest>(?:marker|verdict|review|only|nothing|without|findings?|["'.!]|\s*$)`,
			`\b(?:respond|reply|answer|conclude|finish|end|close)s? <4>with <3>an approval\b`,
			`\b<give> <8>(?:verdict|marker|decision|outcome|review) <4>(?:(?:to|as|of|=|:|is|being|that says|saying) )?<approval>`,
			`\b(?:output|emit|print|return|write|produce|issue|render|give|post|submit) <4>(?:approve|approval|approving) (?:verdict|marker|review)`,
			`\byour (?:\w+ )?(?:verdict|decision|conclusion|answer|marker|review|job|task|goal)(?: here| now)? (?:is|must|should|will|shall|has to|needs to) <4>(?:to )?<approval>`)},
	{why: "orders an approval", bare: true, words: []string{"approve", "approving", "lgtm", "wave", "rubber", "pass"}, any: anyOf(
		`\byou (?:\w+ )?<must> <3>(?:approve|lgtm|pass|accept|wave through|rubber-?stamp) (?:this |the |my |our |every )(?:\w+ )?(?:pull requests?|prs?|merge requests?|changes?|changesets?|diffs?|commits?|patch(?:es)?|submission|branch|code|notebook|files?)\b`,
		`\bapprov(?:e|ing) <change> <3>(?:unconditionally|regardless|no matter|blindly|without <2>(?:any|reading|looking|review(?:ing)?|examin\w*|comments?|findings?|questions?|checking|further|inspect\w*|opening|hesitation|analysis)|at once|and (?:report|return|list|raise|say|give|output|post|claim|leave|end|emit|write|mark) )`,
		`\b(?:just|simply|always|blindly|unconditionally|automatically) approve <change>\b`,
		`\bapprove (?:this|it|everything|all)(?: \w+)?,? (?:now|immediately|unconditionally|regardless|no matter|blindly|without)`),
		unless: regexp.MustCompile(`^\s(?:in|on|with|via|using)\s(?:the|your|a)\b`)},
	{why: "orders the reviewer to look away", words: []string{"finding"}, any: anyOf(
		`\b<no> <3>(?:report|raise|flag|mention|list|post|includ|file|giv|writ|emit|add|return|produc|nam)(?:e|ing|s)? (?:\w+ ){0,5}?findings?\b`,
		`\b(?:report|return|list|raise|give|emit|produce|output|leave|post|claim|state)(?:ing)? <2>(?:no|zero|0|an empty(?: list of)?|empty) findings?\b`,
		`\b(?:leave|keep|make|set|return)(?:ing)? <3>findings(?: list| array)? (?:as )?(?:empty|blank|\[ ?\])`,
		`\bfindings? (?:list |array )?(?:must|should|has to|needs to|shall|will)? ?(?:be|stays?|remains?) (?:empty|blank|none|\[ ?\])`,
		`\b(?:drop|delete|remove|withdraw|suppress|discard|downgrade|lower|waive|close|resolve) (?:all|every|any|your|the other|each|previous|earlier|open|outstanding)(?: \w+){0,3} findings?`)},
	{why: "orders the reviewer to look away", words: []string{"dimension", "every file", "all file", "changed file", "everything"}, with: []string{"examined", "covered", "walked", "clean", "fine", "inspected"}, any: anyOf(
		`\b(?:mark|list|report|claim|state|declare|consider|treat|count|record|say)(?:ing)? (?:that )?<6>(?:dimensions?|(?:changed |every |all )files?|everything)(?: \w+){0,3}? (?:as|were|was|are|is|been) (?:\w+ )?(?:examined|covered|walked|clean|fine|inspected)\b`)},
	{why: "has a model decode and follow something", words: []string{"decode", "base64", "rot13", "decrypt", "unscramble", "decipher", "backwards", "reverse", "encoded", "hidden", "encrypted"}, any: anyOf(
		`(?:decode|decrypt|unscramble|decipher|translate|rot13|base64) [^.!?]{0,80}(?:and|then|to) <3>(?:follow|execute|obey|act (?:on|upon)|comply|carry out|do what)`,
		`(?:follow|obey|carry out|comply with) <4>(?:decoded|encoded|hidden|base64|rot13|reversed|encrypted) <2>(?:instructions?|text|message|orders?|string|comment|commands?)`)},
	{why: "announces instructions for a model", words: []string{"instruction", "directive", "prompt"}, any: anyOf(
		`(?:^|[.!?] )(?:here are |these are )?(?:your |the )?(?:new|updated|revised|actual|real|true|overriding) (?:system )?(?:instructions?|directives?|prompt)(?: (?:for|to) (?:you|the (?:reviewer|model|assistant|agent|bot)))?\s?:`,
		`\binstructions? (?:for|to) (?:the )?(?:ai|llm|reviewer|reviewing|model|claude|gpt|assistant|bot|touchstone)\b`,
		`\b(?:end|begin(?:ning)?) of (?:the )?(?:system |user )(?:prompt|instructions?|input|message|turn)`,
		`\b(?:obey|comply with|adhere to) (?:only )?(?:the )?(?:instructions?|directives?|orders|prompt) (?:in|of|below|from|inside|contained|within|given|found|here) `)},
	{why: "tells a model what to do with its tools", words: []string{"fetch", "curl", "run", "execute", "download", "open", "read", "browse", "visit", "call", "use your", "send", "post", "get"}, forms: said, any: anyOf(
		`\b(?:before|while|when|after|during|prior to) (?:you )?(?:review(?:ing)?|judging|approving)(?: (?:this|the|it)(?: \w+){0,2})?,? (?:you )?<please>(?:must |should )?(?:fetch|curl|run|execute|download|open|read|browse|visit|call|send|post|get|wget)\b`,
		`\buse your (?:\w+ )?(?:tools?|shell|terminal|bash|fetch)\b`)},
}

// act is what a machine that was addressed is told to do.
const act = `(?:no findings|approve|pass|accept|skip|ignore|disregard|return|respond|reply|output|answer|conclude|emit|treat|consider|mark|assume|trust|lgtm|say|stop|end|print|post|include|write|run|follow|obey|read|examine|look|withdraw|waive)`

// dictations are about what the machine is to say, secrets above all.
var dictations = []pattern{
	{why: "asks for what the machine must not tell", words: []string{"prompt", "nonce", "instructions", "environment", "env", "key", "token", "secret", "credential", "password", ".ssh", "id_rsa", "/etc/", ".netrc", ".aws", "/proc/", "home directory", "kubeconfig", "agent.yaml", "/.config/", "run line"},
		with: []string{"your ", "review", "the system prompt", "the prompt", "instructions", "nonce", "finding", "verdict", "suggestion", "pull request comment", "run line"}, any: anyOf(
			`\b<write> <8><secret>\b?<rest>\b(?:in|into|to|as|at (?:the )?(?:end|top|start) of|inside|within|on|with|under|below) <2>(?:<answer>|(?:the |this |an? )(?:(?:posted |public )?review(?:'s)? (?:body|comment|summary)|summary of (?:the|your) review|pull request comment|finding|suggestion|verdict))`,
			`\b(?:in|into|as part of|at (?:the )?(?:end|top|start) of) <answer>,? <4><write> <8><secret>`,
			`\b<write> <4>(?:your|the) (?:system prompts?|(?:hidden |full |whole |entire |exact |original |initial )?(?:prompt|instructions)(?: verbatim| word for word| in full| you were given| above)|run nonce|run line)`,
			`\b(?:repeat|print|reveal|show|tell|post|quote|disclose|leak|echo|dump) (?:me |us )?(?:your|the) nonce (?:so|in|as|of|to|at|back|here)\b`,
			`\bwhat (?:is|are|was|were) your (?:system prompt|(?:original |initial |exact )?instructions|nonce)`)},
	{why: "dictates what the review says", words: []string{"your "}, forms: []Form{Name, Prose, Markdown, Output}, any: anyOf(
		`\b(?:<write>|begin|start|end|finish|close|open) <8>(?:in|into|to|as|at (?:the )?(?:end|top|start|beginning) of|inside|within|with) <answer>\b`,
		`\b(?:begin|start|end|finish|close|open|preface) <answer> (?:with|by)`,
		`\b(?:in|as|make) <answer>,? (?:please |just |also |you must |always |simply )*(?:<write>|be|exactly|only|suggest|recommend|propose|ask|link)\b`,
		`<answer> (?:must|should|has to|needs to|shall) (?:\w+ )?(?:contain|include|say|read|begin|start|end|mention|be|state|open|close|tag|ping|link)`)},
	{why: "dictates what the review says", words: []string{"your "}, forms: []Form{Code}, any: anyOf(
		`\b(?:<write>|begin|start|end|finish) <8>(?:in|into|to|as|at (?:the )?(?:end|top|start|beginning) of|inside|within|with) your (?:final |own |next |whole |posted )?(?:verdict|review (?:body|summary|comment)|findings?|summary|code review)\b`,
		`your (?:final )?(?:verdict|review summary|code review) (?:must|should|has to|needs to) `)},
}

// pretences are claims that a machine should not have to believe: that the judging
// is done already, or was done by somebody else.
var pretences = []pattern{
	{why: "pretends that the review is done", words: []string{"approved", "passed", "accepted", "cleared", "found nothing", "in approve"}, forms: said, any: anyOf(
		`\b(?:already|was|were|been|is|got|has) (?:approved|passed|accepted|cleared|waved through) <3>(?:in|by|during|at|after) (?:the |an? |your )?(?:previous|earlier|prior|last|first|preceding|former|touchstone|round \d+)(?:'s)?(?: review| \d+)? ?(?:round|review(?:er)?|run|session|agent|bot)?\b`,
		`\bround (?:\d+|one|two|three|four|five)(?: of the review| review)? <3>(?:approved|passed|accepted|found nothing|cleared)`,
		`\b(?:previous|earlier|prior|last|first) (?:review )?(?:round|run|session|review(?:er)?) <3>(?:approved|passed|accepted|found nothing|cleared|ended in approve)`)},
	{why: "pretends that findings are settled", words: []string{"finding"}, forms: said, any: anyOf(
		`\bfindings? <8>(?:were|was|has been|have been|is|are|got) (?:(?:all|already|now|hereby|since|formally|officially) )*(?:waived|verified|withdrawn|dismissed|overruled|settled|cleared)\b`,
		`\b(?:waive|withdraw|dismiss|overrule)s? (?:(?:all|every|any|the|these|your|open|outstanding|remaining|following) )*findings?\b`)},
	{why: "pretends that the review is done", words: []string{"touchstone", "reviewer", "reviewing", "judge", "exempt", "approved", "excluded", "listed"}, any: anyOf(
		`\b(?:touchstone|the (?:ai |automated |review(?:ing)? )?(?:reviewer|judge|agent|bot))(?: agent| bot)? (?:has )?(?:(?:already|previously|just|formally) )+(?:approved|passed|accepted|cleared|reviewed|signed off)`,
		`\b(?:reviewed|approved|cleared|pre-?approved|exempt(?:ed)?|whitelisted|allow-?listed|excluded) (?:by|from|for|in) (?:the )?(?:touchstone|(?:ai|automated|machine|automatic)(?: code)? review)`,
		`\bexempt from (?:code |security )?review\b`, `\bpre-?approved (?:change|pull request|pr|diff|commit)`)},
	{why: "pretends that the review is done", words: []string{"dimensions"}, any: anyOf(
		`\b(?:all nine|9/9|all 9|nine|9) dimensions (?:were|are|have been|has been|walked|examined|pass|clean|ok|checked|clear)`)},
}

// hints say it in other words: nothing is called an approval in them.
var hints = []pattern{
	{why: "orders a verdict", words: []string{"positive", "favourable", "favorable", "acceptance", "vetted", "sign "},
		with: []string{"outcome", "marker", "closing line", "conclusion", "verdict", "line of", " off"}, any: anyOf(
			`\b(?:conclude|end|ends|finish|close|emit|respond|answer|reply|come) <4>(?:with|to|at|by|in|emit)? ?<4>(?:positive|favou?rable) <1>(?:outcome|verdict|marker|(?:closing )?line|conclusion)\b`,
			`\b(?:marker|outcome|verdict) (?:is|will be) the (?:positive|favou?rable) one\b`, `\b(?:closing|last|final) line of (?:acceptance|approval)\b`,
			`\bemit favou?rable marker\b`, `\bsign (?:this|it) off without (?:remarks?|comments?|findings?|questions?)\b`)},
	{why: "orders the reviewer to look away", words: []string{"remarks", "list of", "objections"}, forms: said, any: anyOf(
		`\b(?:emit|raise|list|report) (?:no|zero) (?:remarks|objections)\b`, `\bleave the list of (?:problems|issues|findings|remarks) (?:blank|empty)\b`)},
	{why: "addresses the reviewing machine", words: []string{"software", "program", "machine", "algorithm", "system", "model", "ai ", "neural", "network"}, forms: said, any: anyOf(
		`(?:^|[.!?] )to the (?:software|program|machine|algorithm|ai|neural network) (?:that is |which is )?(?:reading|reviewing|evaluating|judging|processing) this\b`,
		`\b(?:whatever|whichever) (?:model|software|program|ai|llm|algorithm|machine|neural network) (?:that |which )?(?:evaluates|judges|reviews|grades|reads|assesses|inspects) (?:this|the) (?:diff|change|pull request|pr|patch|commit)\b`,
		`\b(?:evaluators?|judges?|graders?|reviewers?) (?:that are |which are )?(?:powered|driven|backed) by (?:neural|ai\b|llms?|language models?|models?)`)},
	{why: "addresses the reviewing machine", words: []string{"judge", "evaluator", "grader", "bot", "reviewer"}, forms: said, any: anyOf(
		`\b(?:automated|automatic|machine|ai|llm) (?:judge|evaluator|grader)s? <3><must> <3>(?:regard|treat|consider|sign|approve|accept|trust)\b`,
		`\b(?:bot|ai|model|machine|judge) (?:is|has|must|should) (?:(?:therefore|thus|hence|now|simply) )*(?:to )?sign (?:it|this) off\b`)},
	{why: "orders an approval", words: []string{"approves"}, forms: said, any: anyOf(
		`\b<machine>s? approves <change> (?:without|regardless|unconditionally|no matter|with no)\b`)},
	{why: "tells a model to drop its instructions", words: []string{"guidance", "instructions", "briefing", "work"}, any: anyOf(
		`\byour (?:earlier|previous|prior|original|existing|remaining) (?:guidance|instructions|briefing|work) (?:no longer (?:appl|count|hold)|(?:is|are) (?:hereby |now )?(?:void|cancelled|revoked|superseded))`)},
}
