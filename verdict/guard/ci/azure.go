package ci

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

func isAzure(name string) bool {
	return isYAML(name) && (strings.HasPrefix(strings.TrimPrefix(path.Base(name), "."), "azure-pipelines") ||
		strings.HasPrefix(name, ".azure-pipelines/") || strings.HasPrefix(name, ".azuredevops/"))
}

// isAzureTemplate reports whether a file is in one of the usual folders for parts of such pipelines.
func isAzureTemplate(name string) bool {
	return isYAML(name) && (strings.HasPrefix(name, "eng/ci/") || strings.HasPrefix(name, "eng/pipelines/"))
}

// readAzureTemplate reads a part. Which pipelines include it is not known.
func readAzureTemplate(root *doc.Node) (Pipeline, error) {
	p, err := readAzure(root)
	p.Strength = min(p.Strength, Sometimes)
	return p, err
}

// parameter matches what CircleCI and Azure replace before a script runs.
var parameter = regexp.MustCompile(`<<[^<>\n]*>>|\$\([\w.]+\)`)

// readAzure follows https://learn.microsoft.com/en-us/azure/devops/pipelines/yaml-schema/
func readAzure(root *doc.Node) (Pipeline, error) {
	p := Pipeline{Strength: Always, Line: 1}
	if pr := root.Get("pr"); pr != nil {
		left := pr.Get("branches", "exclude").Strings()
		if pr.Get("paths", "include") == nil { // one in a deeper folder counts more
			left = slices.Concat(left, pr.Get("paths", "exclude").Strings())
		}
		if p.Line = pr.Line; pr.Value == "none" || contains(left, "*", "**", "/") {
			p.Strength = Elsewhere
		}
	}
	azureJobs(&p, root, Always)
	return p, nil
}

func azureJobs(p *Pipeline, n *doc.Node, outer Strength) {
	outer = min(outer, azureStrength(n))
	if template := n.Text("template"); template != "" {
		job := Job{Name: template, Line: n.Line, Strength: outer, Cells: []Cell{{}}, Calls: template, Inputs: map[string]string{}}
		inputs(job.Inputs, "", n.Get("parameters"))
		job.Steps = []Step{azureStep(n)}
		p.Jobs = append(p.Jobs, job)
	}
	for _, key := range []string{"extends", "parameters"} { // a template may be given jobs
		if given := n.Get(key); given != nil && given.Kind == doc.Map {
			azureJobs(p, given, outer)
		}
	}
	for _, key := range []string{"stages", "jobs"} {
		for _, item := range n.Get(key).Members() {
			azureJobs(p, item, outer)
		}
	}
	steps := n.Get("steps")
	if steps == nil {
		return
	}
	job := Job{Name: n.Text("job"), Line: n.Line, Strength: outer, Cells: []Cell{{}}}
	if legs := n.Get("strategy", "matrix"); legs != nil && legs.Kind == doc.Map {
		job.Cells = nil
		for _, leg := range legs.Items {
			c := Cell{}
			c.add(leg)
			job.Cells = append(job.Cells, c)
		}
	}
	add := func(s *doc.Node, at Strength) {
		step := azureStep(s)
		step.steer("variables", n)
		own := step.Strength
		step.Strength = func(c Cell) Strength { return min(own(c), at) }
		job.Steps = append(job.Steps, step)
	}
	for _, s := range steps.Items {
		if inner := s.Members(); len(inner) == 1 && strings.HasPrefix(inner[0].Key, "${{") { // steps under a condition
			for _, one := range inner[0].Items {
				add(one, Sometimes)
			}
			continue
		}
		add(s, Always)
	}
	p.Jobs = append(p.Jobs, job)
}

// inputs adds the parameters of a template, and those within them.
func inputs(all map[string]string, prefix string, parameters *doc.Node) {
	for _, item := range parameters.Members() {
		if item.Kind == doc.Scalar {
			all[prefix+item.Key] = item.Value
		}
		if parameters.Kind == doc.Map {
			inputs(all, prefix+item.Key+" ", item)
		}
	}
}

func azureStep(s *doc.Node) Step {
	step := Step{Name: s.Text("displayName"), MayFail: s.Text("continueOnError"), Line: s.Line, Uses: s.Text("task"),
		With: s.Get("inputs").Values(), Dir: s.Text("workingDirectory"), Strength: fixed(azureStrength(s))}
	step.Script = actionScript(step.Uses, step.With)
	step.ScriptLine = step.Line - 1
	for _, key := range []string{"script", "bash", "pwsh", "powershell"} {
		if n := s.Get(key); n != nil {
			step.Script, step.ScriptLine = n.Value, n.Before()
			step.Options = shell.Options{EachCounts: key == "pwsh" || key == "powershell"}
		}
	}
	if template := s.Text("template"); template != "" { // an unknown command
		step.Script = "template '" + template + "'"
	}
	step.Script = parameter.ReplaceAllString(step.Script, "PARAMETER")
	step.steer("env", s)
	return step
}

// azureStrength is the strength that "condition", "continueOnError" and "enabled" allow.
func azureStrength(n *doc.Node) Strength {
	if n.Text("continueOnError") == "true" || n.Text("enabled") == "false" {
		return Never
	}
	condition := n.Text("condition")
	switch {
	case condition == "" || strings.HasPrefix(condition, "succeeded") || strings.HasPrefix(condition, "always"),
		strings.HasPrefix(condition, "not(canceled"):
		return Always
	case condition == "false" || condition == "never()" || condition == "failed()":
		return Never
	case strings.Contains(condition, "'refs/heads/") || strings.Contains(condition, "ne(variables['Build.Reason'], 'PullRequest')"):
		return Elsewhere
	}
	return Sometimes
}
