package guard

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// harmless options are about how much is printed and where to, how much runs at
	// once, and about more being demanded. Of all others it is not known that a check
	// looks at what it looked at, and fails where it failed.
	harmlessLong = regexp.MustCompile(`^--workspaces?$|^--(?:no-(?:fail-fast|restore|build|daemon|cache|install|progress|colou?r|header|summary|bail|audit|fund|logo|transfer-progress|verify-lockfile)|` +
		`(?i:\w*(?:capture|order|collect|report|output|format|colou?r|verbose|cov|junit|log|parallel|jobs|workers|thread|concurren|timeout|race|shuffle|seed|random|cache|profile|strict|lock|frozen|stacktrace|debug|trace|durations|recursive|runInBand|batch|release|features|toolchain|blame|diff|immutable|progress|numprocesses|shards?-index|asyncio|import-mode|statistics|enable|deny|install-types|interactive|pretty|html|xml|lcov|json|sarif|uniq|headless|silent|detectOpenHandles|forbid))[\w-]*|` +
		`(?:all|all-\w+|ci|run|check|watch=false|watchAll=false|fail-(?:on|fast|under)[\w-]*|error[\w-]*|max-warnings|max-fail\w*|maxfail|bail|tb|ext|dist|env|browser|show-[\w-]+|extend-select|select|python-version|platform|configuration|results-directory|settings|verify|write-summary|yes|version|exit-code|exit-non-zero\S*|cap|jobs?|noEmit|incremental|tests|build|tree))(?:[= ].*)?$`)
	harmlessShort = regexp.MustCompile(`^-(?:v+|q|s|x|l|w|d|i|e|r\w*|n\d*|j\d*|p\d*|f|P\S*|D\S*|E\S*|W\S*|T\S*|B|U|ntp|Z|race|count\S*|cover\S*|timeout\S*|parallel\S*|cpu\S*|shuffle\S*|json|tags\S*|bench\S*|benchtime\S*|benchmem|failfast|trimpath|mod\S*|ldflags\S*|gcflags\S*|buildvcs\S*|asmflags\S*|work|msan|asan|fullpath|outputdir\S*|\w+profile\S*|diff|simplify|Werror|Wall)$`)
	// choosing options name a configuration or a folder: their value counts as well.
	choosing = regexp.MustCompile(`^(?:-c|-C|-p|-f|--config(?:-file|-path)?|--conf|--rcfile|--project|--prefix|--rootdir|--root|--dir|--cwd|--directory|--manifest-path|--settings|--ini-file|--ignore-path|-o)$`)
	preface  = regexp.MustCompile(`\bcd\s+([^\s$]+?)\s*(?:&&|;)|(\s-O{1,2}\b)`)
)

// options are those of a check's options that may make it look at less, or fail less,
// with their values where they choose something, and where the line goes first.
func options(c command) []string {
	at := strings.Index(c.text, c.key)
	if at < 0 || c.purpose == "script" || strings.Contains(c.text, "uses:") {
		return nil
	}
	var out []string
	for _, m := range preface.FindAllStringSubmatch(c.text[:at], -1) {
		out = append(out, strings.TrimSpace(m[1]+m[2]))
	}
	rest := c.text[at+len(c.key):]
	if end := cutoff.FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	words := strings.Fields(rest)
	for i, w := range words {
		w = strings.Trim(w, `"',]`)
		name, value, _ := strings.Cut(w, "=")
		if value == "" && i+1 < len(words) && choosing.MatchString(name) {
			value = strings.Trim(words[i+1], `"',]`)
		}
		numbers := value != "" && strings.Trim(value, "0123456789") == ""
		switch {
		case !strings.HasPrefix(w, "-") || w == "-" || w == "--":
		case choosing.MatchString(name) && numbers, name == "-p" && !strings.Contains(c.key, "tsc") && !strings.Contains(value, "no:"):
		case choosing.MatchString(name) && !(name == "-o" && !strings.Contains(c.key, "pytest")) && !(name == "-f" && !strings.HasPrefix(c.key, "make") && !strings.HasPrefix(c.key, "mvn")):
			out = append(out, name+" "+value)
		case name == "--settings", harmlessLong.MatchString(w), harmlessShort.MatchString(w):
		default:
			out = append(out, w)
		}
	}
	return out
}

// eases finds checks of one kind of which none is run any more without an option that
// none had. A further run with one takes nothing away.
func eases(f *file, was, is []command) []Hit {
	had := map[string]bool{}
	for _, c := range was {
		for _, o := range options(c) {
			had[o] = true
		}
	}
	strange := func(c command) bool {
		return slices.ContainsFunc(options(c), func(o string) bool { return !had[o] })
	}
	plain := 0
	for _, c := range is {
		if !strange(c) {
			plain++
		}
	}
	if plain >= len(was) {
		return nil
	}
	at := slices.IndexFunc(is, strange)
	return []Hit{{CI, f.path(), is[at].line, f.old.at(was[0].line), f.new.at(is[at].line), "The check has an option by which it may look at less, or fail less."}}
}
