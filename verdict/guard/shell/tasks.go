package shell

import (
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/doc"
)

// ListsTasks reports whether a file of this name has settings among which can be what a command runs.
func ListsTasks(name string) bool {
	base := path.Base(name)
	return taskLists[base] != nil && (base != "config.toml" || path.Base(path.Dir(name)) == ".cargo")
}

// tasks reads the tasks of a file. Each is a command, a list of them, or a map that has one of both.
func (p *Project) tasks(dir, name string, root *doc.Node) {
	lists := func(runner, prefix string, list *doc.Node) {
		for _, t := range list.Members() {
			p.targets[dir+"\x00"+runner+"\x00"+prefix+t.Key] = append([]Command{}, steps(runner, t, list)...)
		}
	}
	if tox := root.Get("tool", "tox"); tox.Text("legacy_tox_ini") != "" {
		if ini, err := doc.Parse("tox.ini", []byte(tox.Text("legacy_tox_ini"))); err == nil {
			p.tox(dir, ini)
		}
	} else if tox != nil {
		p.environments(dir, tox)
	}
	for _, list := range taskLists[path.Base(name)] {
		where := strings.Fields(list)
		lists(where[0], "", root.Get(where[1:]...))
	}
	for _, env := range root.Get("tool", "hatch", "envs").Members() {
		lists("hatch", strings.TrimPrefix(env.Key+":", "default:"), env.Get("scripts"))
	}
}

// steps returns the commands of a task, or of a part of one. A task of the same list is named by its name, and in Composer
// behind an "@".
func steps(runner string, n, list *doc.Node) (out []Command) {
	switch {
	case n.Kind == doc.List && (n.Key == "cmd" || runner == "cargo"): // the words of one command
		return steps(runner, &doc.Node{Value: strings.Join(n.Strings(), " ")}, list)
	case n.Kind == doc.Scalar:
		text, ignored := strings.CutPrefix(n.Value, "- ")
		if runner == "cargo" {
			text = "cargo " + text
		} else if (runner == "poe" || runner == "pdm") && n.Key != "shell" {
			text = strings.ReplaceAll(text, "\n", " ")
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(text, "@"), " ")
		switch other := list.Get(first); {
		case strings.HasPrefix(text, "@php "), strings.HasPrefix(text, "@composer "):
			text = text[1:]
		case other != nil && other != n && runner != "task" && runner != "deno" && (runner != "composer" || strings.HasPrefix(text, "@")),
			n.Key == "task", n.Key == "ref":
			text = runner + " run " + strings.TrimPrefix(text, "@")
		}
		out, err := Parse(text, Options{Errexit: runner == "task"}) // Task sets it itself
		if err != nil {
			out = []Command{{Args: strings.Fields(text)}}
		}
		for i := range out {
			out[i].Lost = out[i].Lost || ignored
		}
		return out
	}
	known := n.Kind == doc.List
	for _, item := range n.Items {
		switch key := item.Key; {
		case n.Kind == doc.List, slices.Contains(parts, key):
			known = true
			out = append(out, steps(runner, item, list)...)
		case key == "script" || key == "call" || key == "dependencies": // a function of Python, or tasks of Deno
			out = append(out, Command{Args: []string{item.Value + " "}})
		}
	}
	if !known && len(out) == 0 { // in a form that is not known here
		out = []Command{{Args: []string{n.Key + " "}}}
	}
	var idle []string // with whose success a task of Task does not run
	if runner == "task" {
		idle = n.Get("status").Strings()
	}
	always := func(s string) bool { return s != "true" && s != ":" && s != "exit 0" }
	for i := range out {
		out[i].Lost = out[i].Lost || n.Text("ignore_error") == "true" || len(idle) > 0 && !slices.ContainsFunc(idle, always)
		out[i].Conditional = out[i].Conditional || runner == "task" && slices.ContainsFunc(conditions, func(key string) bool {
			return n.Get(key) != nil
		})
	}
	return out
}

// task returns the commands of the tasks that a command runs; nil if it runs none that is known.
func (p *Project) task(args []string, dir string) (out []Command) {
	if i := slices.Index(args, "run"); i < 1 || !slices.Contains([]string{"hatch", "pdm", "rye"}, path.Base(args[i-1])) {
		args = unwrap(args)
	} else {
		args = args[i-1:]
	}
	if len(args) < 2 {
		return nil
	}
	runner := path.Base(args[0])
	if args = args[1:]; args[0] == "run-script" || runner == "deno" && args[0] == "task" {
		args = args[1:]
	} else if runner == "deno" {
		return nil
	}
	name, extra := scriptOf(args)
	if runner == "hatch" && args[0] != "run" { // it has tests of its own
		return nil
	}
	out, known := p.targets[dir+"\x00"+runner+"\x00"+strings.TrimPrefix(name, "default:")]
	if !known && runner == "hatch" { // an environment has the scripts of the default one, too
		out = p.targets[dir+"\x00hatch\x00"+name[strings.LastIndexByte(name, ':')+1:]]
	}
	for runner == "task" && len(extra) > 0 && out != nil { // further tasks
		out, extra = append(slices.Clip(out), p.targets[dir+"\x00task\x00"+extra[0]]...), extra[1:]
	}
	if slices.Contains([]string{"composer", "deno", "task", "poe", "cargo", "hatch", "pdm", "rye"}, runner) {
		return with(out, extra)
	}
	return nil
}
