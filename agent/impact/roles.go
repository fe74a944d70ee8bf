package impact

import (
	"path"
	"slices"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// A name of one word is no name by itself: "port" can mean anything. It is noted only where its line says what it
// is, which is a role: a flag, a topic, a metric, a variable of the environment, a column or a setting.

// argument is where a call takes a name.
type argument struct {
	kind string
	// of matches what stands before the call's name; nil allows anything.
	of *lazyregexp.Regexp
	// most is the number of arguments that may stand before the name.
	most int
}

// callers are the calls that define or use a name of one word, in lower case and without underscores.
var callers = func() map[string]argument {
	flags, value := lazyregexp.New(`(?i)(?:flags?(?:et)?(?:\(\))?|\bfs)\.$`), lazyregexp.New(`\.$`)
	all := map[string]argument{}
	for _, group := range []struct {
		names string
		argument
	}{
		// flag and pflag of Go; those with Var take a pointer first.
		{"bool int int64 uint uint64 string float64 duration func boolfunc boolp intp int64p uintp uint64p stringp float64p durationp count " +
			"countp stringslice stringslicep stringarray stringarrayp intslice intslicep", argument{"flag", flags, 0}},
		{"boolvar intvar int64var uintvar uint64var stringvar float64var durationvar textvar boolvarp intvarp int64varp uintvarp uint64varp " +
			"stringvarp float64varp durationvarp countvar countvarp stringslicevar stringslicevarp stringarrayvar stringarrayvarp intslicevar " +
			"intslicevarp stringtostringvar stringtostringvarp", argument{"flag", value, 1}},
		// yargs, commander, clap, Commons CLI, Thor, Symfony, Dart's args, CLI11.
		{"option requiredoption addflag long longopt withlongopt methodoption classoption", argument{"flag", nil, 0}},
		{"addoption", argument{"flag", nil, 1}},
		{"publish subscribe psubscribe unsubscribe emit topic topics produce consume broadcast", argument{"topic", nil, 1}},
		{"listen addlistener removelistener addeventlistener removeeventlistener sendevent publishevent", argument{"topic", nil, 0}},
		{"on once off trigger", argument{"topic", value, 0}},
		{"counter gauge histogram summary newcounter newgauge newhistogram createcounter creategauge createhistogram int64counter " +
			"float64counter int64histogram float64histogram int64gauge int64updowncounter registercounter registergauge registerhistogram",
			argument{"metric", nil, 0}},
		{"getenv lookupenv unsetenv setenv", argument{"variable", nil, 0}},
	} {
		for name := range strings.FieldsSeq(group.names) {
			all[name] = group.argument
		}
	}
	return all
}()

// lookups are the calls that ask for a flag by its name, written like the names of callers.
var lookups = set(`lookup changed markflagrequired markpersistentflagrequired markhidden markdeprecated getstring getbool getint getduration
	getstringslice getone getflag getmany valueof ispresent getoption getoptionvalue hasoption`)

var (
	oneWord = lazyregexp.New(`^[A-Za-z][A-Za-z0-9]{2,40}$`)
	// written matches a flag among others in the text of an option, such as "-b, --budget <n>".
	written   = lazyregexp.New(`(?:^|[\s,|])(--[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?:$|[\s,=|<\[])`)
	optioning = lazyregexp.New(`(?i)(?:\b|_)(?:on|option|flag|add_?option|add_?flag|add_?argument)(?:<\w+>)?\s*\(`)
	// named matches a name in a field of a literal whose type stands above, and topical one in an annotation or a
	// keyword argument.
	named   = lazyregexp.New(`\bName:\s*"([A-Za-z][A-Za-z0-9]{2,40})"`)
	above   = lazyregexp.New(`(?:(Flag)|(?:Counter|Gauge|Histogram|Summary)Opts)\{`)
	topical = lazyregexp.New(`\b(?:topics?|queues?)\s*=\s*[\[{(]?\s*["']([A-Za-z][A-Za-z0-9]{2,40})["']`)
	// macro matches a flag that a macro of C++ defines, derived one of clap that has the name of its field.
	macro   = lazyregexp.New(`^\s*(?:DEFINE_\w+\(|ABSL_FLAG\([^,()]+,)\s*([a-z][a-z0-9]{2,40})\s*,`)
	derived = lazyregexp.New(`^\s*#\[(?:arg|clap|structopt)\(.*\blong\b\s*[,)]`)
	member  = lazyregexp.New(`^\s*(?:pub(?:\([\w:]+\))?\s+)?([a-z][a-z0-9]{2,40})\s*:`)
	// environ matches a variable where the environment is read, upperWord one in the keys of settings.
	environ   = lazyregexp.New(`(?:\benv(?:iron)?|\bENV)(?:\.|\[["'])([A-Z][A-Z0-9]{2,40})\b`)
	upperWord = lazyregexp.New(`^[A-Z][A-Z0-9]{2,40}$`)
)

// everywhere are names of settings and topics that mean something else in most places.
var everywhere = set(`name names type types version description title path paths url urls key keys value values default defaults enabled
	enable disabled options option config data error errors message close end open click change ready load exit finish start stop input output
	connect disconnect request response status state result text size length count time date user users test tests true false null none all
	any main index source target file files dir item items list map set get add run script scripts build include exclude properties
	required license author authors email homepage repository dependencies icon label labels id ids kind spec metadata image template`)

// ofSystems are variables of the environment that systems set, for all programs.
var ofSystems = set(`PATH HOME SHELL TERM USER USERNAME LOGNAME PWD OLDPWD LANG LANGUAGE TMPDIR TEMP TMP TZ EDITOR VISUAL PAGER DISPLAY
	HOSTNAME COLUMNS LINES CMD`)

// onScreen matches events of browsers, which no code of a repository publishes.
var onScreen = lazyregexp.New(`^(?:DOM|key|mouse|touch|pointer|drag|scroll|resize|focus|blur|submit|before|pop|hash)`)

// toolFiles are name patterns, in lower case, of settings whose keys a known tool reads.
var toolFiles = strings.Fields("compose* docker-compose* dockerfile* chart.yaml package.json composer.json cargo.toml pyproject.toml " +
	"setup.cfg tox.ini tsconfig* jsconfig* renovate.json mkdocs.y*ml pubspec.y*ml _config.y*ml codecov.y*ml goreleaser.y*ml taskfile.y*ml " +
	"gopkg.toml glide.yaml crowdin.yml buf*.y*ml api* openapi* swagger* gradle.properties pom.properties nx.json lerna.json turbo.json " +
	"global.json biome.json deny.toml clippy.toml rustfmt.toml book.toml netlify.toml vercel.json")

// byTools reports whether a known tool reads the keys of a file of settings, and not the repository's own code: it is one of
// those, or hidden.
func byTools(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, ".") || strings.Contains(name, "/.") || slices.ContainsFunc(toolFiles, func(pattern string) bool {
		fits, _ := path.Match(pattern, path.Base(name))
		return fits
	})
}

// environments matches a file that sets environment variables.
var environments = lazyregexp.New(`(?:^|/)(?:\.env[\w.]*|[\w.-]+\.env|(?:docker-)?compose[\w.-]*|Dockerfile[\w.-]*)$`)

// role returns a name of one word. in is the table of a column.
func role(kind, in, word string) Name {
	n := Name{Kind: kind, Name: word, In: in, word: word}
	if kind == "flag" {
		n.Name = "--" + word
	}
	return n
}

// roles returns the names of one word in a line of a file, by its number.
func roles(file string, lines []string, at int) (all []Name) {
	line := lines[at-1]
	add := func(kind, word string) { all = append(all, role(kind, "", word)) }
	if settingFiles.MatchString(file) {
		m := settingKey.FindStringSubmatch(line)
		switch {
		case m == nil || !oneWord.MatchString(m[1]):
		case upperWord.MatchString(m[1]) && environments.MatchString(file):
			add("variable", m[1])
		case kindOf(file) != "CI" && !byTools(file):
			add("setting", m[1])
		}
		return all
	}
	for _, m := range environ.FindAllStringSubmatch(line, 5) {
		add("variable", m[1])
	}
	if m := topical.FindStringSubmatch(line); m != nil {
		add("topic", m[1])
	}
	if m := macro.FindStringSubmatch(line); m != nil {
		add("flag", m[1])
	}
	if m := member.FindStringSubmatch(line); m != nil && at > 1 && derived.MatchString(lines[at-2]) && strings.HasSuffix(file, ".rs") {
		add("flag", m[1])
	}
	if m := named.FindStringSubmatch(line); m != nil {
		for n := at; n > 0 && n > at-5; n-- {
			if of := above.FindStringSubmatch(lines[n-1]); of != nil {
				add(map[bool]string{true: "flag", false: "metric"}[of[1] != ""], m[1])
				break
			}
		}
	}
	for i, end := range stringsIn(line) {
		if word := line[i+1 : end]; oneWord.MatchString(word) {
			if a, ok := takes(line[:i]); ok && (a.kind != "variable" || upperWord.MatchString(word)) {
				add(a.kind, word)
			}
		}
	}
	return all
}

// takes returns what the call that is open at the end of a line takes for a name there.
func takes(before string) (argument, bool) {
	name, of, number := callOf(before)
	a, ok := callers[name]
	return a, ok && number <= a.most && (a.of == nil || a.of.MatchString(of))
}

// callOf returns the call that is open at the end of a line: its name in lower case and without underscores, what
// stands before it, and how many arguments it has so far.
func callOf(before string) (name, of string, number int) {
	depth := 0
	for i := len(before) - 1; i >= 0; i-- {
		switch before[i] {
		case ')', ']', '}':
			depth++
		case ',':
			if depth == 0 {
				number++
			}
		case '(', '[', '{':
			if depth--; depth >= 0 {
				continue
			}
			head := strings.TrimRight(before[:i], "!")
			if last(head) == '>' { // type arguments
				head = head[:max(0, strings.LastIndexByte(head, '<'))]
			}
			name = lastWord(head)
			return strings.ToLower(strings.ReplaceAll(name, "_", "")), head[:len(head)-len(name)], number
		}
	}
	return "", "", number
}

// flagsIn returns the flags in the text of an option, such as "-b, --budget <n>".
func flagsIn(text string) (all []string) {
	if !optioning.MatchString(text) {
		return nil
	}
	for i, end := range stringsIn(text) {
		for _, m := range written.FindAllStringSubmatch(text[i+1:end], 3) {
			all = append(all, m[1])
		}
	}
	return all
}

var (
	creating = lazyregexp.New(`(?i)\bcreate\s+(?:\w+\s+){0,2}table\s+(?:if\s+not\s+exists\s+)?` +
		`(?:[^\s().]+\.)?["'\x60\[]?(\w+)["'\x60\]]?\s*\(`)
	columnRow = lazyregexp.New(`^\s*["\x60\[]?([A-Za-z]\w{1,60})["\x60\]]?\s+["\x60\[]?[A-Za-z]`)
)

// constraints begin the rows of a table's definition that are no columns.
var constraints = set("primary foreign unique constraint key index check exclude like period fulltext spatial partition")

// maxTable bounds the text of one table's definition, in bytes: a parenthesis can be left open.
const maxTable = 64 << 10

// columnsIn returns the columns of the tables that a text creates, by the number of their line.
func columnsIn(text string) map[int][]Name {
	if !strings.Contains(text, "able") && !strings.Contains(text, "ABLE") {
		return nil
	}
	all := map[int][]Name{}
	line, counted := 1, 0
	for _, m := range creating.FindAllStringSubmatchIndex(text, 200) {
		table, row, depth := text[m[2]:m[3]], m[1], 0
		line += strings.Count(text[counted:row], "\n")
		counted = row
		at, from := line, row
		add := func(end int) {
			for _, c := range columnRow.FindAllStringSubmatchIndex(text[row:end], 1) {
				if constraints[strings.ToLower(text[row+c[2]:row+c[3]])] {
					continue
				}
				at += strings.Count(text[from:row+c[2]], "\n")
				from = row + c[2]
				all[at] = append(all[at], role("column", table, text[from:row+c[3]]))
			}
			row = end + 1
		}
	rows:
		for i := m[1]; i < min(len(text), m[1]+maxTable); i++ {
			switch text[i] {
			case '(':
				depth++
			case ')':
				if depth--; depth < 0 {
					add(i)
					break rows
				}
			case ',':
				if depth == 0 {
					add(i)
				}
			case '-': // a comment can contain anything
				if strings.HasPrefix(text[i:], "--") {
					if end := strings.IndexByte(text[i:], '\n'); end >= 0 {
						if strings.TrimSpace(text[row:i]) == "" {
							row = i + end
						}
						i += end
					}
				}
			}
		}
	}
	return all
}

// keysIn returns the keys in a file of settings.
func keysIn(lines []string) map[string]bool {
	all := map[string]bool{}
	for _, line := range lines {
		if m := settingKey.FindStringSubmatch(line); m != nil {
			all[m[1]] = true
		}
	}
	return all
}
