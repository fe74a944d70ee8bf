package shell

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/doc"
)

// Bounds of the scripts that call scripts: their depth, and how many commands are looked up for one command. Without the
// second, a few scripts that each call the next one several times would take hours.
const (
	maxResolve = 6
	maxLookUps = 1000
	// maxTargets bounds the commands that are looked up for all targets and scripts of a project together, and those that
	// its targets run without that. Each of many targets may need all others.
	maxTargets = 50_000
	// maxRecipes bounds the commands of the targets of one Makefile. One recipe may be that of many targets.
	maxRecipes = 200_000
	// maxFollowed bounds the prerequisites and the commands that are followed in one project. Each of many steps may
	// run the same long script.
	maxFollowed = 300_000
)

// Project resolves a repository's commands: the targets of its Makefiles, the scripts of its packages, its
// tox environments, its sessions of nox and its script files.
type Project struct {
	targets map[string][]Command  // by directory, runner and name
	deps    map[string][][]string // the prerequisites of a Makefile's targets, by rule: many targets share one list
	open    map[string]bool       // the directories with a Makefile that takes recipes from elsewhere, or by a pattern
	left    int                   // of maxFollowed
	files   map[string][]byte
	read    map[string][]Command // what is known of files so far, by path
}

// mavenOptions is the file with options of every call of Maven.
const mavenOptions = ".mvn/maven.config"

// invokeTasks is the file with the tasks of Invoke. In another folder a file of this name is usually the product's own.
const invokeTasks = "tasks.py"

// IsProject reports whether a file of this name can define what a command runs.
func IsProject(name string) bool {
	switch path.Base(name) {
	case "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", ".justfile", "package.json", "tox.ini", "tox.toml", "noxfile.py":
		return true
	}
	return name == mavenOptions || name == invokeTasks || (path.Ext(name) == "" || path.Ext(name) == ".sh") && NamesCheck(name)
}

// NewProject reads the files that [IsProject] and [ListsTasks] accept, by path. A file that does not parse defines nothing,
// and an unknown command resolves to itself.
func NewProject(files map[string][]byte) *Project {
	p := &Project{targets: map[string][]Command{}, deps: map[string][][]string{}, open: map[string]bool{}, left: maxFollowed, files: files,
		read: map[string][]Command{}}
	for name, content := range files {
		dir := path.Dir(name)
		switch path.Base(name) {
		case "noxfile.py":
			p.python(dir, "nox", string(content))
		case invokeTasks:
			p.python(dir, "invoke", string(content))
		case "Makefile", "makefile", "GNUmakefile":
			p.makefile(dir, "make", string(content))
		case "justfile", "Justfile", ".justfile":
			p.makefile(dir, "just", header.ReplaceAllString(indented.ReplaceAllString(string(content), "\t"), "$1:$2"))
		default:
			if root, err := doc.Parse(name, content); err == nil {
				p.document(dir, name, root)
			}
		}
	}
	return p
}

// document reads the scripts of a package, environments of tox, or tasks.
func (p *Project) document(dir, name string, root *doc.Node) {
	switch path.Base(name) {
	case "package.json":
		for _, s := range root.Get("scripts").Members() {
			if commands, err := Parse(s.Value, Options{}); err == nil {
				p.targets[dir+"\x00npm\x00"+s.Key] = commands
			}
		}
	case "tox.ini":
		p.tox(dir, root)
	case "tox.toml":
		p.environments(dir, root)
	case "config.toml":
		p.tasks(path.Dir(dir), name, root)
	default:
		p.tasks(dir, name, root)
	}
}

func (p *Project) tox(dir string, root *doc.Node) {
	for _, s := range root.Items {
		if s.Key == "tox" {
			p.deps[dir+"\x00tox\x00"] = [][]string{strings.Fields(strings.ReplaceAll(s.Text("envlist")+"\n"+s.Text("env_list"), ",", " "))}
		}
		env, ok := strings.CutPrefix(s.Key, "testenv")
		if !ok || s.Get("commands") == nil && env != "" { // it runs those of all
			continue
		}
		all := []Command{}
		for line := range strings.Lines(s.Text("commands")) {
			text := strings.TrimSpace(line)
			commands, _ := Parse(strings.TrimPrefix(text, "-"), Options{})
			for _, c := range commands {
				for set := range strings.Lines(s.Text("setenv") + "\n" + s.Text("set_env")) {
					name, value, _ := strings.Cut(set, "=")
					if name = strings.TrimSpace(name); carrying[name] != "" {
						c.Args = append([]string{name + "=" + strings.TrimSpace(value)}, c.Args...)
					}
				}
				c.Lost = c.Lost || strings.HasPrefix(text, "-") || s.Text("ignore_outcome") == "true"
				all = append(all, c)
			}
		}
		p.targets[dir+"\x00tox\x00"+strings.TrimPrefix(env, ":")] = all
	}
}

// environments reads those of tox that are written in TOML, as [Project.tox] reads them in its other form. Each command is a list
// of words. See https://tox.wiki/en/stable/config.html#pyproject-toml-native.
func (p *Project) environments(dir string, tox *doc.Node) {
	p.deps[dir+"\x00tox\x00"] = [][]string{tox.Get("env_list").Strings()}
	add := func(name string, env *doc.Node) {
		if env.Get("commands") == nil && name != "" {
			return // it runs those of all
		}
		all := []Command{}
		for _, command := range env.Get("commands").Members() {
			words, lost := command.Strings(), env.Text("ignore_outcome") == "true"
			if len(words) > 0 && strings.HasPrefix(words[0], "-") {
				words[0], lost = strings.TrimPrefix(words[0], "-"), true
			}
			if words = slices.DeleteFunc(words, func(w string) bool { return w == "" }); len(words) > 0 {
				all = append(all, Command{Args: words, Lost: lost})
			}
		}
		p.targets[dir+"\x00tox\x00"+name] = all
	}
	add("", tox.Get("env_run_base"))
	for _, env := range tox.Get("env").Members() {
		add(env.Key, env)
	}
}

// Targets returns the targets and scripts of a project by name, with the commands that each runs.
func (p *Project) Targets() map[string][]Command {
	out := map[string][]Command{}
	left, commandsLeft := maxTargets, maxTargets
	for _, key := range slices.Sorted(maps.Keys(p.targets)) {
		parts, commands := strings.Split(key, "\x00"), p.targets[key]
		if len(p.deps[key]) > 0 && commandsLeft > 0 {
			done := map[string]bool{}
			commands = p.rule(nil, strings.TrimSuffix(key, parts[2]), parts[2], done)
			commandsLeft -= len(done) + len(commands)
		}
		for _, c := range commands {
			lookUps := min(left, maxLookUps)
			left -= lookUps
			out[parts[2]] = append(out[parts[2]], p.resolve(c, parts[0], 0, &lookUps)...)
			left += max(lookUps, 0)
		}
	}
	for name, content := range p.files {
		// A file without an ending is a script by its first line, or if it is called a check and nothing more: sbt's scripted tests
		// are called test, and a note may be called validate-entry-points.
		note := path.Ext(name) == "" && strings.ContainsAny(path.Base(name), "-_0123456789") && !bytes.HasPrefix(content, []byte("#!"))
		if script.MatchString(name) && !note {
			out[name] = p.Resolve(Command{Args: []string{"./" + path.Base(name)}, Line: 1}, path.Dir(name))
		}
	}
	return out
}

// Resolve returns the commands that a command runs in a directory. An unknown command resolves to itself.
func (p *Project) Resolve(c Command, dir string) []Command {
	left := maxLookUps
	return p.resolve(c, dir, 0, &left)
}

func (p *Project) resolve(c Command, dir string, depth int, left *int) []Command {
	if *left--; depth > maxResolve || *left < 0 {
		return []Command{c}
	}
	c.Lost = c.Lost || c.Neutral()
	if args := unwrap(c.Args); len(args) > 0 && strings.HasPrefix(path.Base(args[0]), "mvn") { // which has options in a file, too
		options := strings.Fields(string(p.files[path.Join(dir, mavenOptions)]))
		c.Lost = c.Lost || Command{Args: slices.Concat(args, options)}.Neutral()
	}
	var out []Command
	commands := p.task(c.Args, dir)
	listed := commands != nil
	if !listed {
		commands = p.lookUp(unwrap(c.Args), dir)
	}
	if p.left -= len(commands); p.left < 0 {
		return []Command{c}
	}
	for _, inner := range commands {
		for _, one := range p.resolve(inner, dir, depth+1, left) {
			one.Line, one.Lost, one.Conditional = c.Line, one.Lost || c.Lost, one.Conditional || c.Conditional
			out = append(out, one)
		}
	}
	checks := func(c Command) bool { _, ok := c.Check(); return ok }
	fails := func(c Command) bool { return !c.vain() }
	if !slices.ContainsFunc(out, checks) && (commands == nil || slices.ContainsFunc(out, fails)) {
		run := slices.IndexFunc(c.Args, func(a string) bool { return a == "run" || a == "task" || a == "run-script" })
		if listed && run > 0 && !checks(c) {
			c.Args = append([]string{"task"}, c.Args[run+1:]...)
		}
		return []Command{c} // by its name alone
	}
	return out
}

// succeeds matches which of its commands concurrently needs to succeed.
var succeeds = regexp.MustCompile(` (?:-s|--success)[ =](\S+)`)

// lookUp resolves a command by one step; nil if the command is unknown, and not nil if it is known to run nothing.
func (p *Project) lookUp(args []string, dir string) []Command {
	if len(args) == 0 {
		return nil
	}
	switch runner := path.Base(args[0]); runner {
	case "make", "gmake", "just":
		return p.made(strings.TrimPrefix(runner, "g"), args[1:], dir)
	case "run-s", "run-p", "npm-run-all", "concurrently":
		return p.together(args, dir)
	case "npm", "yarn", "pnpm", "bun":
		return p.packaged(slices.Clone(args[1:]), dir)
	case "tox":
		return p.toxed(args[1:], dir)
	case "nox":
		return p.asked("nox", args[1:], dir)
	case "invoke", "inv":
		return p.asked("invoke", args[1:], dir)
	case "sbt", "turbo":
		var out []Command
		list := args[1:]
		if i := slices.IndexFunc(list, func(a string) bool { return strings.HasPrefix(a, "-") }); i >= 0 && runner == "turbo" {
			list = list[:i]
		}
		for _, text := range tasks(list) {
			if text != "run" {
				out = append(out, Command{Args: []string{runner, text}})
			}
		}
		if len(out) < 2 {
			return nil
		}
		return out
	}
	for len(args) > 1 && slices.Contains([]string{"bash", "sh"}, path.Base(args[0])) {
		args = args[1:]
	}
	name := path.Join(dir, args[0])
	content, known := p.files[name]
	if !known || !script.MatchString(args[0]) {
		return nil
	}
	commands, done := p.read[name]
	if !done { // many steps may run one script
		first, _, _ := strings.Cut(string(content), "\n")
		commands, _ = Parse(string(content), Options{Errexit: strings.HasPrefix(first, "#!") && strings.Contains(first, " -") &&
			strings.HasSuffix(first, "e")})
		p.read[name] = commands
	}
	return commands
}

// made returns the commands of the targets that arguments of make or just name.
func (p *Project) made(runner string, args []string, dir string) (out []Command) {
	rest, into := makeTargets(args, dir)
	done, prefix := map[string]bool{}, path.Clean(into)+"\x00"+runner+"\x00"
	for _, target := range rest {
		out = p.rule(out, prefix, target, done)
	}
	unknown := func(target string) bool {
		_, known := p.targets[prefix+target]
		return !known || p.open[path.Clean(into)]
	}
	if len(out) == 0 && len(rest) > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(done)), unknown) {
		return []Command{}
	}
	return out
}

// together returns the commands that a program runs at once or one behind the other, such as concurrently.
func (p *Project) together(args []string, dir string) (out []Command) {
	concurrently := path.Base(args[0]) == "concurrently"
	which := succeeds.FindStringSubmatch(strings.Join(args, " "))
	for _, name := range args[1:] {
		script, named := strings.CutPrefix(name, "npm:")
		switch commands, err := Parse(name, Options{}); {
		case strings.HasPrefix(name, "-"):
		case concurrently && !named && err == nil:
			out = append(out, commands...)
		default:
			out = append(out, p.named(dir, script)...)
		}
	}
	for i := range out { // the result is that of the one that ends first, or of a certain one
		out[i].Conditional = out[i].Conditional || concurrently && which != nil && which[1] != "all"
	}
	return out
}

// packaged returns the commands of the script of a package that the arguments of npm or a similar tool name. It changes the
// arguments.
func (p *Project) packaged(rest []string, dir string) []Command {
	for _, option := range []string{"--prefix", "-C", "--cwd", "--dir"} {
		if i := slices.Index(rest, option); i >= 0 && i+1 < len(rest) {
			dir, rest = path.Join(dir, rest[i+1]), slices.Delete(rest, i, i+2)
		}
	}
	name, extra := scriptOf(rest)
	commands, known := p.targets[dir+"\x00npm\x00"+name]
	elsewhere := func(a string) bool { return strings.HasPrefix(a, "-") && a != "--if-present" } // it may choose other packages
	if _, here := p.files[path.Join(dir, "package.json")]; !known &&
		(!here || !slices.Contains(rest, "--if-present") || slices.ContainsFunc(rest, elsewhere)) {
		return nil
	}
	return append([]Command{}, slices.Concat(p.targets[dir+"\x00npm\x00pre"+name], with(commands, extra),
		p.targets[dir+"\x00npm\x00post"+name])...)
}

// named returns the commands that run the scripts of a package whose names match a pattern, in which a star matches up to a colon.
func (p *Project) named(dir, pattern string) (out []Command) {
	for _, key := range slices.Sorted(maps.Keys(p.targets)) {
		name, is := strings.CutPrefix(key, dir+"\x00npm\x00")
		if fits, _ := path.Match(strings.ReplaceAll(pattern, ":", "/"), strings.ReplaceAll(name, ":", "/")); is && fits {
			out = append(out, Command{Args: []string{"npm", "run", name}})
		}
	}
	if len(out) == 0 {
		return []Command{{Args: []string{"npm", "run", pattern}}}
	}
	return out
}

// with gives the last of several commands further arguments.
func with(commands []Command, extra []string) []Command {
	if len(commands) == 0 || len(extra) == 0 {
		return commands
	}
	out := slices.Clone(commands)
	last := &out[len(out)-1]
	last.Args = slices.Concat(last.Args, extra)
	return out
}

// scriptOf returns the script that npm or a similar tool runs, and the script's arguments.
func scriptOf(args []string) (name string, extra []string) {
	for i, a := range args {
		switch {
		case strings.HasPrefix(a, "-"), a == "run":
		default:
			extra = args[i+1:]
			if len(extra) > 0 && extra[0] == "--" {
				extra = extra[1:]
			}
			if a == "t" {
				a = "test"
			}
			return a, extra
		}
	}
	return "", nil
}

func (p *Project) toxed(args []string, dir string) (out []Command) {
	if p.targets[dir+"\x00tox\x00"] != nil {
		out = []Command{}
	}
	for i, a := range args {
		if (a == "-e" || a == "-m") && i+1 < len(args) {
			for _, env := range strings.Split(args[i+1], ",") {
				commands, known := p.targets[dir+"\x00tox\x00"+env]
				if !known {
					commands = p.targets[dir+"\x00tox\x00"]
				}
				out = append(out, commands...)
			}
			return out
		}
	}
	out = slices.Clone(p.targets[dir+"\x00tox\x00"])
	for _, env := range slices.Concat(p.deps[dir+"\x00tox\x00"]...) {
		out = append(out, p.targets[dir+"\x00tox\x00"+env]...)
	}
	return out
}
