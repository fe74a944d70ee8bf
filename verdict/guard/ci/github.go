package ci

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// isGitHub reports whether a file is a workflow of GitHub or of a forge with the same format.
func isGitHub(name string) bool {
	return isYAML(name) && slices.Contains([]string{".github/workflows", ".gitea/workflows", ".forgejo/workflows"}, path.Dir(name))
}

// readGitHub follows https://docs.github.com/en/actions/reference/workflow-syntax-for-github-actions
func readGitHub(root *doc.Node) (Pipeline, error) {
	on, jobs := byName(root.Get("on")), root.Get("jobs")
	if on == nil || jobs == nil {
		return Pipeline{}, nil
	}
	p := Pipeline{Strength: githubEvents(on), Line: on.Line, Triggers: triggers(on), Called: on.Get("workflow_call") != nil}
	for _, j := range jobs.Items {
		for _, item := range j.Get("strategy").Members() {
			if !contains([]string{"matrix", "fail-fast", "max-parallel"}, item.Key) { // GitHub does not run such a workflow
				return Pipeline{}, fmt.Errorf("a strategy has no key %s", item.Key)
			}
		}
		p.Jobs = append(p.Jobs, githubJob(root, j))
	}
	needed(p.Jobs, jobs)
	return p, nil
}

// byName is a map of the events that start a workflow, each with its filters: in a list, and alone, they have none.
func byName(on *doc.Node) *doc.Node {
	if on == nil || on.Kind == doc.Map {
		return on
	}
	out, events := &doc.Node{Kind: doc.Map, Line: on.Line}, on.Items
	if on.Kind == doc.Scalar {
		events = []*doc.Node{on}
	}
	for _, event := range events {
		out.Items = append(out.Items, &doc.Node{Key: event.Value, Line: on.Line})
	}
	return out
}

// githubEvents is the strength that the triggers of a workflow allow. A push to any branch counts like a pull
// request; a called workflow is as strong as its caller.
func githubEvents(on *doc.Node) Strength {
	out := Never
	for _, event := range on.Items {
		switch event.Key {
		case "workflow_dispatch", "repository_dispatch", "workflow_call":
			continue
		case "pull_request", "pull_request_target", "merge_group":
			types := event.Get("types").Strings()
			if !passesAll(event) && (len(types) == 0 || contains(types, "opened", "synchronize", "checks_requested")) {
				out = Always
			}
		case "push":
			if event.Get("branches") == nil && event.Get("tags") == nil && event.Get("branches-ignore") == nil ||
				contains(event.Get("branches").Strings(), "**", "*") {
				out = Always
			}
		}
		out = max(out, Elsewhere)
	}
	return out
}

// passesAll reports whether filters of a trigger leave out every branch or every file.
func passesAll(filter *doc.Node) bool {
	for _, kind := range []string{"branches", "paths"} {
		only := filter.Get(kind).Strings()
		leaves := func(pattern string) bool { return strings.HasPrefix(pattern, "!") }
		if contains(filter.Get(kind+"-ignore").Strings(), "**") || contains(only, "!**") && leaves(only[len(only)-1]) ||
			len(only) > 0 && !slices.ContainsFunc(only, func(p string) bool { return !leaves(p) }) {
			return true
		}
	}
	return false
}

// triggers returns the events of a workflow with their filters.
func triggers(on *doc.Node) (out []Trigger) {
	for _, event := range on.Items {
		t := Trigger{Event: event.Key, Line: event.Line}
		for _, filter := range event.Items {
			for _, v := range filter.Strings() {
				t.Filters = append(t.Filters, filter.Key+" "+v)
			}
		}
		if t.Event != "" {
			out = append(out, t)
		}
	}
	return out
}

func contains(list []string, any ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(any, s) })
}

// setting matches the value of a variable that the workflow itself sets.
var setting = regexp.MustCompile(`\$\{\{ *env\.(\w+) *\}\}`)

func githubJob(root, j *doc.Node) Job {
	job := Job{Name: j.Key, Line: j.Line, Strength: Always, Cells: cells(j.Get("strategy", "matrix"))}
	job.Computed = computed(j.Get("strategy", "matrix"))
	job.Environment = cmp.Or(j.Text("environment"), j.Text("environment", "name"))
	if on := strings.Join(j.Get("runs-on").Strings(), " "); !strings.Contains(on, "${{") {
		job.Machine = on
	}
	shellOf := cmp.Or(j.Text("defaults", "run", "shell"), root.Text("defaults", "run", "shell"))
	dir := cmp.Or(j.Text("defaults", "run", "working-directory"), root.Text("defaults", "run", "working-directory"))
	if uses := j.Text("uses"); uses != "" {
		job.Calls = strings.TrimPrefix(strings.TrimPrefix(uses, "$/"), "./")
		runs := conditioned(nil, j, nil)
		job.Strength = runs(Cell{dynamic: "true"})
		job.Chosen = strings.Contains(j.Text("if"), "needs.") && runs(Cell{dynamic: "true", fork: "true"}) == Sometimes &&
			runs(Cell{dynamic: "true", says: "true"}) == Sometimes && runs(Cell{dynamic: "true", says: "false"}) == Sometimes
		job.Inputs = j.Get("with").Values()
		if strings.Contains(uses, "@") { // in another repository: an unknown command
			job.Steps = []Step{{Line: j.Line, Script: "workflow " + uses, Strength: fixed(Always)}}
			if check, _ := actionCheck(uses, nil); check != "" {
				job.Steps[0].Uses = uses
			}
		}
	}
	if c := j.Get("if"); c != nil && holds(c.Value, Cell{dynamic: "true"}) == no && runsElsewhere(c.Value) == Never {
		job.Strength = Never
	}
	checkout, exported := "", &doc.Node{Kind: doc.Map, Items: []*doc.Node{{Kind: doc.Map, Key: "env"}}}
	windows := strings.HasPrefix(j.Text("runs-on"), "windows")
	on := byName(root.Get("on"))
	alone := on != nil && on.Get("workflow_call") == nil
	known := []*doc.Node{root.Get("env"), j.Get("env")}
	if slices.ContainsFunc(j.Get("steps").Members(), exports) {
		known = nil
	}
	for _, s := range j.Get("steps").Members() {
		step := Step{Name: s.Text("name"), MayFail: s.Text("continue-on-error") + j.Text("continue-on-error"), Line: s.Line,
			Uses: s.Text("uses"), With: s.Get("with").Values(), Dir: cmp.Or(s.Text("working-directory"), dir)}
		step.Dir = setting.ReplaceAllStringFunc(step.Dir, func(e string) string {
			name := setting.FindStringSubmatch(e)[1]
			return cmp.Or(s.Text("env", name), j.Text("env", name), root.Text("env", name), e)
		})
		step.Options, step.Script, step.ScriptLine = githubShell(cmp.Or(s.Text("shell"), shellOf), windows), s.Text("run"), s.Line
		if run := s.Get("run"); run != nil {
			step.Line, step.ScriptLine = run.Line, run.Before()
		}
		if step.Script == "" {
			step.Script = actionScript(step.Uses, step.With)
			step.ScriptLine = step.Line - 1
		}
		step.Script = withoutExpressions(step.Script)
		if step.Strength = conditioned(s, j, written(s, known, alone)); step.Script != "" && passesOver(cmp.Or(s.Text("shell"), shellOf)) {
			step.Strength = fixed(Never)
		}
		step.Context = step.Dir + " " + cmp.Or(s.Text("shell"), shellOf)
		step.steer("env", s, exported, j, root)
		if ref := cmp.Or(step.With["ref"], step.With["repository"]); ref != "" && strings.HasPrefix(step.Uses, "actions/checkout") {
			checkout = "checkout of " + ref
		}
		step.Context = strings.TrimSpace(step.Context + " " + checkout)
		if attempts := cmp.Or(step.With["max_attempts"], step.With["attempt_limit"]); attempts != "" {
			step.Context += " in " + attempts + " attempts"
		}
		for _, set := range sets.FindAllStringSubmatch(strings.ReplaceAll(s.Text("run"), "\\\n", " "), -1) {
			vars := exported.Items[0]
			vars.Items = append(vars.Items, &doc.Node{Key: set[1], Value: strings.Trim(set[2], `"' `)})
		}
		job.Steps = append(job.Steps, step)
	}
	if job.Judged = judged(j, job.Steps); j.Get("if") == nil {
		job.Needs = j.Get("needs").Strings()
	}
	return job
}

// sets matches a command that sets a variable for the steps after it.
var sets = regexp.MustCompile(`(?m)^\s*echo +["']?([A-Za-z_]\w*)=(.*?)>> *["']?\$\{?GITHUB_ENV\b`)

// exports reports whether a step may set variables for those after it: by its script, or by an action that may have any.
func exports(s *doc.Node) bool {
	uses := s.Text("uses")
	return strings.Contains(s.Text("run"), "GITHUB_ENV") || strings.HasPrefix(uses, ".") || strings.Contains(uses, "github-script")
}

// maxVariables bounds the variables of a workflow, a job or a step that are known: each is looked for in all conditions.
const maxVariables = 100

// written returns the variables in the conditions of a step that have a value in it or around it, as a cell has them. The
// parser of conditions does not tell the case of a name, by which variables differ: one that is also written otherwise is not
// known. A workflow that no other one calls has no inputs.
func written(step *doc.Node, around []*doc.Node, alone bool) Cell {
	out := Cell{}
	if alone {
		out[uncalled] = "true"
	}
	asks := strings.Join(strings.Fields(step.Text("if")+" "+step.Text("continue-on-error")), "")
	lower, all := strings.ToLower(asks), append(slices.Clip(around), step.Get("env"))
	unknown := func(n *doc.Node) bool { return n != nil && (n.Kind != doc.Map || len(n.Items) > maxVariables) }
	if around == nil || asks == "" || slices.ContainsFunc(all, unknown) {
		return out
	}
	for _, n := range all {
		for _, v := range n.Members() {
			name := "env." + strings.ToLower(v.Key)
			switch times := strings.Count(lower, name); {
			case times == 0:
			case times != strings.Count(asks, "env."+v.Key), strings.Contains(v.Value, "${{"):
				delete(out, "?"+name)
			default:
				out["?"+name] = v.Value
			}
		}
	}
	return out
}

// conditioned is the strength that "if" and "continue-on-error" of a step and its job allow. Only the step's know variables:
// https://docs.github.com/en/actions/reference/workflows-and-actions/contexts#context-availability
func conditioned(step, job *doc.Node, known Cell) func(Cell) Strength {
	return func(cell Cell) Strength {
		out := Always
		for _, n := range []*doc.Node{job, step} {
			if n == step && len(known) > 0 {
				cell = maps.Clone(cell)
				maps.Copy(cell, known)
			}
			if c := n.Get("if"); c != nil {
				switch holds(c.Value, cell) {
				case no:
					out = min(out, runsElsewhere(c.Value))
				case unknown:
					out = min(out, Sometimes)
				}
			}
			if c := n.Get("continue-on-error"); c != nil && c.Value != "" {
				switch holds(c.Value, cell) {
				case yes:
					out = Never
				case unknown:
					out = min(out, Sometimes)
				}
			}
		}
		return out
	}
}

// runsElsewhere distinguishes conditions that are true for other events from those that are never true.
func runsElsewhere(condition string) Strength {
	if strings.Contains(condition, "github.") || strings.Contains(condition, "inputs.") {
		return Elsewhere
	}
	return Never
}

// githubShell returns how GitHub starts a step's shell: only an explicit "bash" has pipefail.
func githubShell(name string, windows bool) shell.Options {
	switch {
	case name == "" && !windows, name == "sh", strings.HasSuffix(name, "sh -e {0}"):
		return shell.Options{Errexit: true}
	case name == "bash":
		return shell.Options{Errexit: true, Pipefail: true}
	case strings.Contains(name, "{0}") && strings.Contains(name, "sh"):
		return shell.Options{Errexit: exits.MatchString(name), Pipefail: strings.Contains(name, "pipefail")}
	}
	return shell.Options{EachCounts: true}
}

// passesOver reports whether a shell does not run the script that it is given, whose file is called {0}.
func passesOver(template string) bool {
	commands, err := shell.Parse(template, shell.Options{})
	runs := func(c shell.Command) bool {
		at := slices.IndexFunc(c.Args, func(a string) bool { return strings.Contains(a, "{0}") })
		reads := strings.HasSuffix(c.Args[0], "sh") && !strings.HasSuffix(c.Args[0], "pwsh") &&
			slices.ContainsFunc(c.Args[:max(at, 0)], onlyReads.MatchString)
		return at >= 0 && !c.Idle() && !reads
	}
	return err == nil && strings.Contains(template, "{0}") && !slices.ContainsFunc(commands, runs)
}

// exits matches the options with which a shell ends at the first failure.
var exits = regexp.MustCompile(` -[a-zA-Z]*e`)

// onlyReads matches the options with which a shell reads a script and runs nothing of it.
var onlyReads = regexp.MustCompile(`^-[a-z]*n[a-z]*$`)

// needed lowers the strength of jobs that wait for a job that does not run for pull requests.
func needed(jobs []Job, nodes *doc.Node) {
	for range 3 { // the usual length of such chains
		for i := range jobs {
			n := nodes.Items[i]
			condition := n.Get("if")
			for _, need := range n.Get("needs").Strings() {
				for k, other := range jobs {
					if o := nodes.Items[k].Get("if"); other.Name == need && o != nil && holds(o.Value, Cell{dynamic: "true"}) == no &&
						(condition == nil || !strings.Contains(condition.Value, "always()")) {
						jobs[i].Strength = min(jobs[i].Strength, runsElsewhere(o.Value))
					}
					if other.Name == need && other.Strength < jobs[i].Strength && condition == nil {
						jobs[i].Strength = other.Strength
					}
				}
			}
		}
	}
}
