package ci

import (
	"cmp"
	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// readTravis follows https://docs.travis-ci.com/user/job-lifecycle/: every line of "script" runs, and each
// can fail the job.
func readTravis(root *doc.Node) (Pipeline, error) {
	p := Pipeline{Strength: Always, Line: 1}
	add := func(n *doc.Node, name string, line int, strength Strength) {
		job := Job{Name: name, Line: line, Strength: strength,
			Cells: axes(n, "os", "arch", "env", "python", "rvm", "node_js", "go", "jdk", "rust", "php")}
		for _, key := range []string{"before_install", "install", "before_script", "script"} {
			list := n.Get(key)
			if list == nil {
				list = root.Get(key)
			}
			job.Steps = append(job.Steps, scriptSteps(list, shell.Options{EachCounts: true})...)
		}
		p.Jobs = append(p.Jobs, job)
	}
	jobs := root.Get("jobs")
	if jobs == nil {
		jobs = root.Get("matrix")
	}
	for _, j := range jobs.Get("include").Members() {
		strength := Always
		if j.Get("if") != nil {
			strength = Sometimes
		}
		for _, allowed := range jobs.Get("allow_failures").Members() {
			fits := len(allowed.Items) > 0
			for _, item := range allowed.Items {
				fits = fits && j.Text(item.Key) == item.Value
			}
			if fits {
				strength = Never
			}
		}
		add(j, cmp.Or(j.Text("name"), j.Text("stage"), j.Text("env")), j.Line, strength)
	}
	if len(jobs.Get("include").Members()) == 0 {
		add(root, "", 1, Always)
	}
	return p, nil
}
