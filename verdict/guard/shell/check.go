package shell

import (
	"cmp"
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"touchstone/verdict/guard/table"
)

// Check is a command that can fail a change.
type Check struct {
	// Name is the tool and its task, such as "go test".
	Name string
	// Guessed says that only the name of a script or target suggests that it checks something.
	Guessed bool
}

//go:embed programs.txt
var programsText string

// The words of programs.txt, where each section is explained.
var (
	programs     = table.Read(programsText)
	checkers     = programs.Words("checkers")
	tools        = programs.Lists("tools")
	runners      = programs.Words("runners")
	checkWords   = programs.Words("checking")
	fixWords     = programs.Words("fixing")
	idle         = programs.Words("idle")
	examining    = programs.Words("examining")
	unread       = programs.Words("unread")
	installing   = programs.Words("installing")
	freezing     = programs.Words("freezing")
	building     = programs.Words("building")
	compilers    = programs.Words("compilers")
	phases       = programs.Words("phases")
	hushed       = programs.Words("hushed")
	pretending   = programs.Lists("pretending")
	wanting      = programs.Lists("wanting")
	carrying     = programs.Names("carrying")
	taskLists    = programs.Lists("tasks")
	parts        = programs.Words("parts")
	conditions   = programs.Words("conditions")
	interpreters = programs.Words("interpreters")
	valued       = programs.Words("valued")
	between      = programs.Words("between")
	otherwise    = programs.Words("otherwise")
)

// wrappers are programs that run the command after them, with the number of words that belong to the wrapper.
var wrappers = func() map[string]int {
	out := map[string]int{}
	for words, names := range programs.Lists("wrappers") {
		for _, name := range names {
			out[name], _ = strconv.Atoi(words)
		}
	}
	return out
}()

var (
	capital    = regexp.MustCompile(`[A-Z]`)
	assignment = regexp.MustCompile(`^[A-Za-z_]\w*=`)
	// ahead matches the options of Python's interpreter ahead of -m, and that itself, if what runs and what fails is the same
	// without them: -O takes out assertions, -i asks for more after a failure, and -c, -V and a file run something else.
	ahead  = regexp.MustCompile(`^(?:-(?:[bBdEIPqRsSuv]+|[bBdEIPqRsSuv]*[WX]\x00?[^\x00]+)\x00)+-m$`)
	script = regexp.MustCompile(`^(?:\.{0,2}/|\w[\w.-]*/)[\w./-]+$|\.(?:sh|py|rb|js|ts|mjs|pl)$`)
)

// checking reports whether the name of a target or script says that it checks something.
func checking(name string) bool { return madeOf(name, "-_:./", checkWords) }

// fixing reports whether the name of a target or script says that it does something else.
func fixing(name string) bool {
	return madeOf(strings.ReplaceAll(strings.ToLower(name), "build-only", "buildonly"), "-_:", fixWords)
}

// madeOf reports whether one of the words is a part of a name.
func madeOf(name, between string, words []string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(between, r) })
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(words, part) })
}

// Check returns what a command checks, if it checks anything.
func (c Command) Check() (Check, bool) {
	args := unwrap(c.Args)
	if len(args) == 0 {
		return Check{}, false
	}
	name := strings.TrimSuffix(path.Base(args[0]), ".exe")
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	asks := func(a string) bool { return a == "--fix" || a == "--version" || a == "--help" }
	if slices.ContainsFunc(args, asks) || name != "ctest" && slices.Equal(args[1:], []string{"-V"}) { // its version
		return Check{}, false
	}
	if name == "valgrind" && profiling.MatchString(strings.Join(args, " ")) {
		return Check{}, false
	}
	if slices.Contains(checkers, name) {
		return Check{Name: name}, true
	}
	if words, known := tools[name]; known {
		return asked(name, words, args[1:])
	}
	if name == "node" && slices.Contains(args, "--test") {
		return Check{Name: "node --test"}, true
	}
	if name == "sbt" {
		return task(args[1:])
	}
	if slices.Contains([]string{"yarn", "pnpm", "bun"}, name) && len(args) > 1 && isProgram(args[1]) { // no script has its name
		return Command{Args: args[1:]}.Check()
	}
	if slices.Contains(runners, name) {
		return target(name, args[1:])
	}
	if i := slices.IndexFunc(args, func(a string) bool { return a == "--target" || a == "-t" }); name == "cmake" && i > 0 && i+1 < len(args) &&
		(checking(args[i+1]) || strings.Contains(args[i+1], "test")) {
		return Check{Name: "cmake " + args[i+1]}, true
	}
	for len(args) > 1 && slices.Contains(interpreters, path.Base(args[0])) {
		args = args[1:]
		for len(args) > 1 && strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
	}
	if script.MatchString(args[0]) && NamesCheck(args[0]) {
		return Check{strings.TrimPrefix(args[0], "./"), true}, true
	}
	return Check{}, false
}

// Neutral reports whether options, or variables that are options, keep a check from failing.
func (c Command) Neutral() bool {
	check, _ := c.Check()
	var carried []string
	for _, a := range c.Args {
		if name, value, is := strings.Cut(a, "="); is && strings.HasPrefix(check.Name, carrying[name]) && carrying[name] != "" {
			carried = append(carried, strings.Fields(value)...)
		}
	}
	args := slices.Concat(carried, unwrap(c.Args))
	for i, a := range args {
		after := ""
		if i+1 < len(args) {
			after = args[i+1]
		}
		if slices.Contains(hushed, a) || after == "0" && strings.HasSuffix(a, "-exit-code") ||
			a == "-x" && (after == "test" || after == "check") {
			return true
		}
	}
	line := check.line(args)
	for name, options := range pretending {
		if strings.HasPrefix(check.Name, name) && hasAny(line, options) {
			return true
		}
	}
	return check.Name == "go test" && strings.Contains(line, " -run ^$ ") && !strings.Contains(line, " -bench") &&
		!strings.Contains(line, " -fuzz")
}

// line joins the arguments of a check, each between two spaces.
func (check Check) line(args []string) string {
	line := " "
	for _, a := range args {
		if a == "--" && strings.HasPrefix(check.Name, "tox") { // what follows is for another program
			break
		}
		switch {
		case strings.Contains(a, " "): // it is a value, as that of a variable
		case strings.HasPrefix(a, "-"):
			line += strings.Replace(a, "=", " ", 1) + " "
		default:
			line += a + " "
		}
	}
	return line
}

// hasAny reports whether a line has one of some options.
func hasAny(line string, options []string) bool {
	return slices.ContainsFunc(options, func(o string) bool { return strings.Contains(line, " "+o+" ") })
}

// Unaimed reports whether a command runs a check that has to be told at what to look, and is not: it looks at what is staged, which is
// nothing in a clean checkout.
func (c Command) Unaimed() bool {
	check, _ := c.Check()
	options := wanting[check.Name]
	line := check.line(unwrap(c.Args))
	return len(options) > 0 && !strings.ContainsAny(line, "$`") && !strings.Contains(line, "EXPR") && !hasAny(line, options)
}

// Builds reports whether a command compiles the code of the repository.
func (c Command) Builds() bool {
	args := unwrap(c.Args)
	return len(args) > 1 && !c.Lost && slices.Contains(compilers, args[0]) && args[1] == "build" ||
		len(args) > 1 && args[0] == "cmake" && args[1] == "--build"
}

// Idle reports whether a command cannot fail because of what it examines: it prints, moves files, installs or
// builds.
func (c Command) Idle() bool {
	args := unwrap(c.Args)
	if c.Lost || len(args) == 0 || strings.HasPrefix(args[0], "$") && !strings.Contains(args[0], "/") {
		return true
	}
	if name := path.Base(args[0]); slices.Contains(idle, name) || slices.Contains(examining, name) {
		return true
	}
	if docker := path.Base(args[0]); strings.HasPrefix(docker, "docker") || docker == "podman" {
		return !slices.ContainsFunc(args, func(a string) bool { return a == "run" || a == "exec" || a == "build" })
	}
	word := slices.IndexFunc(args[1:], func(a string) bool { return !strings.HasPrefix(a, "-") }) + 1
	if args[word] == "run" && slices.Contains(compilers, args[0]) {
		return false
	}
	return path.Base(args[0]) == "node" && len(args) > 2 && nothing.MatchString(args[2]) ||
		slices.Contains(installing, args[word]) || args[word] == "ci" && slices.Contains(freezing, args[0]) ||
		(word != 1 || slices.Contains(building, args[word])) && isProgram(args[0]) ||
		strings.HasPrefix(path.Base(args[0]), "python") && (len(args) == 1 || slices.Contains(unread, args[1]))
}

// vain reports whether a command cannot fail because of what it examines, whatever it is asked.
func (c Command) vain() bool {
	args := unwrap(c.Args)
	if len(args) == 0 {
		return true
	}
	name := path.Base(args[0])
	return c.Idle() && !strings.HasPrefix(args[0], "$") && !strings.HasPrefix(name, "docker") && name != "podman" &&
		!strings.HasPrefix(name, "python") && !slices.Contains(examining, name)
}

// nothing matches code of JavaScript that only prints and ends.
var nothing = regexp.MustCompile(`^[\s;]*(?:(?:console\.\w+\([^()]*\)|process\.exit\(0?\)|\d+|true)[\s;]*)*$`)

// profiling matches Valgrind's tools that find no errors.
var profiling = regexp.MustCompile(`--tool=(?:callgrind|cachegrind|massif|dhat|lackey|none|exp-bbv)\b`)

// NamesCheck reports whether the own name of a script or an action, not its folder's, says that it checks something.
func NamesCheck(file string) bool {
	base := path.Base(file)
	return checking(strings.TrimSuffix(base, path.Ext(base))) && !fixing(base)
}

// unwrap removes the assignments and wrappers before the actual command.
func unwrap(args []string) []string {
	for {
		for len(args) > 0 && assignment.MatchString(args[0]) {
			args = args[1:]
		}
		if len(args) == 0 {
			return nil
		}
		if len(args) > 1 && (args[0] == "source" || args[0] == ".") && NamesCheck(args[1]) { // the shell itself runs it
			return args[1:]
		}
		if m := slices.Index(args, "-m"); m > 1 && strings.HasPrefix(path.Base(args[0]), "python") &&
			ahead.MatchString(strings.Join(args[1:m+1], "\x00")) {
			args = append([]string{args[0]}, args[m:]...) // without the interpreter's own options
		}
		n := wrappers[path.Base(args[0])]
		if len(args) > 1 {
			n = cmp.Or(wrappers[path.Base(args[0])+" "+args[1]], n)
		}
		if n == 0 || n >= len(args) {
			return args
		}
		if n > 1 && isProgram(args[1]) { // the wrapper's own word is missing
			n = 1
		}
		args = args[n:]
		if strings.HasPrefix(args[0], "-") { // the wrapper's own options, some of which take a word
			args = args[max(0, slices.IndexFunc(args, isProgram)):]
		}
		for len(args) > 1 && strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
	}
}

// isProgram reports whether a word is a known program.
func isProgram(word string) bool {
	name := path.Base(word)
	_, tool := tools[name]
	_, wrapper := wrappers[name]
	return tool || wrapper || slices.Contains(checkers, name) || slices.Contains(runners, name)
}

// asked reports whether the words that make a program check are present.
func asked(name string, words, args []string) (Check, bool) {
	sub := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
			sub = a
			break
		}
	}
	for _, word := range words {
		verb, option, _ := strings.Cut(word, " ")
		if strings.HasPrefix(verb, "-") {
			verb, option = "", verb
		}
		if (verb == "" || verb == sub) && (option == "" || slices.ContainsFunc(args, func(a string) bool {
			return a == option ||
				strings.HasPrefix(a, option+"=")
		})) {
			if option != "" && option[0] != '-' { // the verb of a plugin
				verb = word
			}
			return Check{Name: strings.TrimSpace(name + " " + verb)}, true
		}
	}
	return Check{}, false
}

// RunsTarget reports whether a check is a target or script of the repository that is known only by its name.
func RunsTarget(check string) bool {
	runner, _, _ := strings.Cut(check, " ")
	return slices.Contains(runners, runner) && runner != "mvn" && runner != "gradle"
}

// tasks returns the tasks that sbt's arguments ask for. One argument may have several, divided by semicolons.
func tasks(args []string) (all []string) {
	for _, arg := range args {
		for text := range strings.SplitSeq(strings.ReplaceAll(arg, " / ", "/"), ";") {
			words := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return strings.HasPrefix(w, "++") || strings.HasPrefix(w, "-") })
			if len(words) > 0 && words[0] != "set" && words[0] != "project" {
				all = append(all, strings.Join(words, " "))
			}
		}
	}
	return all
}

// task returns the check that sbt's arguments ask for. A task's name may have a project and a configuration before
// it, and is one word with capital letters within.
func task(args []string) (Check, bool) {
	for _, text := range tasks(args) {
		name, _, _ := strings.Cut(text, " ")
		name = strings.TrimLeft(name[strings.LastIndexByte(name, '/')+1:], "+")
		if checking(capital.ReplaceAllString(name, "-$0")) && name != "ci-release" {
			return Check{Name: "sbt " + name}, true
		}
	}
	return Check{}, false
}

// target returns the check that a runner's arguments ask for.
func target(runner string, args []string) (Check, bool) {
	name := cmp.Or(map[string]string{"mvnw": "mvn", "gradlew": "gradle", "gmake": "make"}[runner], runner)
	if name == "rake" && len(args) == 0 { // its default task
		return Check{Name: "rake", Guessed: true}, true
	}
	for i, a := range args {
		if i > 0 && slices.Contains(valued, args[i-1]) {
			continue
		}
		last := a[strings.LastIndexByte(a, ':')+1:]
		switch {
		case strings.HasPrefix(a, "-"), strings.Contains(a, "="), slices.Contains(between, a):
		case a == "ci" && slices.Contains(freezing, name) && (i == 0 || args[i-1] != "run"), a == "install" && name != "mvn",
			slices.Contains(otherwise, a):
			return Check{}, false
		case (name == "mvn" || name == "gradle") && (slices.Contains(phases, last) || checking(last)):
			return Check{Name: name + " " + last}, true
		case (a == "t" || a == "tst") && name == "npm":
			return Check{Name: "npm test"}, true
		case a == "clean" && (name == "mvn" || name == "gradle"): // before other phases
		case fixing(a):
			return Check{}, false
		case checking(a) || a == "all" && name == "make":
			return Check{Name: name + " " + a}, true
		case name != "mvn" && name != "gradle" && name != "make" && name != "nx":
			return Check{}, false
		}
	}
	return Check{}, false
}
