package ci

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

func isGitLab(name string) bool {
	return strings.HasSuffix(path.Base(name), ".gitlab-ci.yml") || gitlabDir.MatchString(name) && isYAML(name)
}

// gitlabDir matches what is in a folder of GitLab, where a pipeline usually includes the rest of it from. In other folders,
// "gitlab" is what a chart or a role installs.
var gitlabDir = regexp.MustCompile(`(?:^|/)(?:\.gitlab/ci|\.?gitlab-ci)(?:\.d)?/|^(?:\.?ci/)?gitlab/`)

// readGitLab follows https://docs.gitlab.com/ci/yaml/
func readGitLab(root *doc.Node) (Pipeline, error) {
	p := Pipeline{Strength: Always, Line: 1}
	if rules := root.Get("workflow", "rules"); rules != nil {
		p.Strength, p.Line = gitlabRules(rules), rules.Line
	}
	for _, j := range root.Items {
		if j.Kind != doc.Map || j.Key == "" || slices.Contains(global, j.Key) || strings.HasPrefix(j.Key, ".") {
			continue
		}
		j = extended(root, j, 0)
		job := Job{Name: j.Key, Line: j.Line, Strength: gitlabStrength(j), Cells: gitlabCells(j.Get("parallel", "matrix"))}
		before := cmp.Or(j.Get("before_script"), root.Get("default", "before_script"), root.Get("before_script"))
		job.Steps = scriptSteps(joined(before, j.Get("script")), shell.Options{Errexit: true, Pipefail: true})
		for i := range job.Steps {
			job.Steps[i].steer("variables", j, root)
		}
		p.Jobs = append(p.Jobs, job)
	}
	return p, nil
}

// joined joins two scripts that run in one shell.
func joined(a, b *doc.Node) *doc.Node {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	out := &doc.Node{Kind: doc.List, Line: b.Line}
	for _, n := range []*doc.Node{a, b} {
		if n.Kind == doc.Scalar {
			out.Items = append(out.Items, n)
		} else {
			out.Items = append(out.Items, n.Items...)
		}
	}
	return out
}

// extended adds to a job what it inherits from the jobs that it extends.
func extended(root, j *doc.Node, depth int) *doc.Node {
	out := *j
	out.Items = slices.Clone(j.Items)
	parents := j.Get("extends").Strings()
	slices.Reverse(parents)
	for _, name := range parents {
		if parent := root.Get(name); parent != nil && depth < 10 {
			for _, item := range extended(root, parent, depth+1).Items {
				if out.Get(item.Key) == nil {
					out.Items = append(out.Items, item)
				}
			}
		}
	}
	return &out
}

func gitlabStrength(j *doc.Node) Strength {
	out := Always
	if a := j.Get("allow_failure"); a != nil && a.Value != "false" {
		if a.Kind == doc.Map {
			out = Sometimes
		} else {
			return Never
		}
	}
	switch j.Text("when") {
	case "manual", "never", "delayed", "on_failure":
		return Never
	}
	if rules := j.Get("rules"); rules != nil {
		out = min(out, gitlabRules(rules))
	}
	if only := j.Get("only"); only != nil {
		refs := append(only.Strings(), only.Get("refs").Strings()...)
		switch {
		case contains(refs, "merge_requests", "branches", "external_pull_requests") || len(refs) == 0 && only.Kind == doc.Map:
		default:
			out = min(out, Elsewhere)
		}
	}
	if contains(append(j.Get("except").Strings(), j.Get("except", "refs").Strings()...), "merge_requests", "branches") {
		out = min(out, Elsewhere)
	}
	return out
}

// gitlabRules is the strength that the rules allow for merge requests.
func gitlabRules(rules *doc.Node) Strength {
	out := Never
	for _, r := range rules.Items {
		condition := r.Text("if")
		one := Sometimes
		switch when := r.Text("when"); {
		case when == "never" && condition == "" && r.Get("changes") == nil && r.Get("exists") == nil:
			return out
		case when == "never", when == "manual", r.Text("allow_failure") == "true":
			one = Never
		case condition == "" && r.Get("changes") == nil && r.Get("exists") == nil, strings.Contains(condition, "merge_request_event"):
			one = Always
		case strings.Contains(condition, "$CI_COMMIT_TAG") || strings.Contains(condition, "$CI_COMMIT_BRANCH ==") ||
			strings.Contains(condition, "schedule"):
			one = Elsewhere
		}
		out = max(out, one)
	}
	return out
}

// gitlabCells expands GitLab's list of matrices.
func gitlabCells(matrix *doc.Node) []Cell {
	var out []Cell
	for _, m := range matrix.Members() {
		axes := *m
		axes.Items = nil
		for _, axis := range m.Items {
			one := *axis
			if one.Kind == doc.Scalar {
				one.Kind, one.Items = doc.List, []*doc.Node{{Value: axis.Value}}
			}
			axes.Items = append(axes.Items, &one)
		}
		out = append(out, cells(&axes)...)
	}
	if len(out) == 0 {
		return []Cell{{}}
	}
	return out
}

// decides matches a line that keeps the status of one before it, or ends a script because of one.
var decides = regexp.MustCompile(`^(?s:\w+=\$\?|exit .*|(?:if +)?(?:\[\[?|test|\(\() .*\bexit\b.*|(?:\[\[?|test|\(\() [^;&|]*)$`)

// scriptSteps makes steps from a list of command lines that share a shell.
func scriptSteps(n *doc.Node, o shell.Options) []Step {
	if n == nil {
		return nil
	}
	if n.Kind == doc.Scalar {
		return []Step{{Line: n.Line, Script: n.Value, ScriptLine: n.Before(), Options: o, Strength: fixed(Always)}}
	}
	// Each entry becomes one step, to keep its line. Earlier lines that affect later ones, such as "set" and
	// "exit", are repeated before each, and what makes a status of an earlier line that of the script after it.
	var steps []Step
	var whole []string
	for _, item := range n.Items {
		for _, line := range append([]*doc.Node{item}, item.Items...) {
			if line.Value != "" {
				whole = append(whole, line.Value)
				steps = append(steps, Step{Line: line.Line, ScriptLine: line.Line - 1, Options: o, Strength: fixed(Always)})
			}
		}
	}
	for i := range steps {
		prefix, suffix := "", ""
		for _, before := range whole[:i] {
			if trimmed := strings.TrimSpace(before); strings.HasPrefix(trimmed, "set ") || strings.HasPrefix(trimmed, "exit") ||
				strings.HasPrefix(trimmed, "trap ") || strings.HasPrefix(trimmed, "cd ") {
				prefix += strings.ReplaceAll(trimmed, "\n", "; ") + "; "
			}
		}
		for _, after := range whole[i+1:] {
			if decides.MatchString(strings.TrimSpace(after)) {
				suffix += "\n" + after
			}
		}
		if suffix == "" && strings.Contains(prefix, "set +e") && i+1 < len(steps) && !strings.Contains(strings.Join(whole[i:], "\n"), "exit") {
			suffix = "\n:" // what follows decides
		}
		steps[i].Script = prefix + whole[i] + suffix
	}
	return steps
}
