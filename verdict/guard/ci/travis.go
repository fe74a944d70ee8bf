package ci

import (
	"cmp"
	"slices"
	"strings"

	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// readTravis follows https://docs.travis-ci.com/user/job-lifecycle/: every line of "script" runs, and each
// can fail the job.
func readTravis(root *doc.Node) (Pipeline, error) {
	p := Pipeline{Strength: Always, Line: 1}
	jobs := cmp.Or(root.Get("jobs"), root.Get("matrix"))
	allowed := jobs.Get("allow_failures").Members()
	add := func(n *doc.Node, name string, line int, strength Strength) {
		job := Job{Name: name, Line: line, Strength: strength, Cells: axes(n, travisAxes...)}
		for _, key := range []string{"before_install", "install", "before_script", "script"} {
			script := cmp.Or(n.Get(key), root.Get(key))
			if usual := travisScripts[cmp.Or(n.Text("language"), root.Text("language"), "ruby")]; script == nil && key == "script" && usual != "" {
				script = &doc.Node{Value: usual, Line: line}
			}
			job.Steps = append(job.Steps, scriptSteps(plain(script), shell.Options{EachCounts: true})...)
		}
		for i, step := range job.Steps {
			job.Steps[i].Strength = func(cell Cell) Strength {
				if slices.ContainsFunc(allowed, func(a *doc.Node) bool { return fits(a, n, cell) }) {
					return Never
				}
				return step.Strength(cell)
			}
		}
		p.Jobs = append(p.Jobs, job)
	}
	included := jobs.Get("include").Members()
	if len(included) == 0 || slices.ContainsFunc(travisAxes, func(key string) bool { return root.Get(key).Members() != nil }) {
		add(root, "", 1, Always)
	}
	for _, j := range included {
		strength := Always
		if j.Get("if") != nil {
			strength = Sometimes
		}
		add(j, cmp.Or(j.Text("name"), j.Text("stage"), j.Text("env")), j.Line, strength)
	}
	return p, nil
}

// plain is a script in which what only Travis knows is said in the shell's words.
func plain(n *doc.Node) *doc.Node {
	if n == nil {
		return nil
	}
	out := *n
	if out.Value = strings.ReplaceAll(n.Value, "travis_terminate", "exit"); n.Value == "skip" {
		out.Value = "true"
	}
	out.Items = nil
	for _, item := range n.Items {
		out.Items = append(out.Items, plain(item))
	}
	return &out
}

// fits reports whether all values of an entry of allow_failures are those of a job's cell.
func fits(allowed, job *doc.Node, cell Cell) bool {
	return len(allowed.Items) > 0 && !slices.ContainsFunc(allowed.Items, func(item *doc.Node) bool {
		return item.Value != cmp.Or(cell[item.Key], job.Text(item.Key))
	})
}
