package ci

import (
	"strings"

	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// readCircleCI follows https://circleci.com/docs/reference/configuration-reference/
func readCircleCI(root *doc.Node) (Pipeline, error) {
	p := Pipeline{Strength: Always, Line: 1}
	workflows := root.Get("workflows")
	if len(workflows.Members()) == 0 {
		for _, j := range root.Get("jobs").Members() {
			p.Jobs = append(p.Jobs, circleJob(root, j, nil))
		}
		return p, nil
	}
	for _, w := range workflows.Members() {
		outer := Always
		if w.Get("triggers") != nil {
			outer = Elsewhere
		} else if w.Text("when") == "false" || w.Text("unless") == "true" {
			outer = Never
		} else if w.Get("when") != nil || w.Get("unless") != nil {
			outer = Sometimes
		}
		for _, entry := range w.Get("jobs").Members() {
			name, use := entry.Value, (*doc.Node)(nil)
			if len(entry.Items) > 0 {
				name, use = entry.Items[0].Key, entry.Items[0]
			}
			if j := root.Get("jobs", name); j != nil {
				job := circleJob(root, j, use)
				job.Strength = min(job.Strength, outer)
				p.Jobs = append(p.Jobs, job)
			}
		}
	}
	return p, nil
}

func circleJob(root, j, use *doc.Node) Job {
	job := Job{Name: j.Key, Line: j.Line, Strength: Always, Cells: cells(use.Get("matrix", "parameters"))}
	if branches := use.Get("filters", "branches"); branches != nil {
		job.Strength, job.Line = Elsewhere, branches.Line
	}
	job.Steps = circleSteps(root, j.Get("steps"), 0)
	for i := range job.Steps {
		job.Steps[i].steer("environment", j)
	}
	return job
}

func circleSteps(root, list *doc.Node, depth int) []Step {
	var steps []Step
	for _, s := range list.Members() {
		name, body := s.Value, s
		if len(s.Items) > 0 {
			name, body = s.Items[0].Key, s.Items[0]
		}
		switch command := root.Get("commands", name); {
		case name == "run":
			text := body
			if body.Kind == doc.Map {
				text = body.Get("command")
			}
			o := shell.Options{Errexit: true, Pipefail: true}
			if sh := body.Text("shell"); sh != "" {
				o = shell.Options{Errexit: exits.MatchString(sh), Pipefail: strings.Contains(sh, "pipefail")}
			}
			for _, step := range scriptSteps(text, o) {
				if body.Text("when") == "on_fail" || body.Text("background") == "true" || passesOver(body.Text("shell")+" {0}") {
					step.Strength = fixed(Never)
				}
				step.Script = parameter.ReplaceAllString(step.Script, "PARAMETER")
				steps = append(steps, step)
			}
		case (name == "when" || name == "unless") && depth < 10:
			for _, inner := range circleSteps(root, body.Get("steps"), depth+1) {
				inner.Strength = fixed(Sometimes)
				steps = append(steps, inner)
			}
		case command != nil && depth < 10:
			steps = append(steps, circleSteps(root, command.Get("steps"), depth+1)...)
		}
	}
	for i, s := range steps {
		if strings.Contains(s.Script, "step halt") {
			for k := i + 1; k < len(steps); k++ {
				steps[k].Strength = fixed(Sometimes)
			}
		}
	}
	return steps
}
