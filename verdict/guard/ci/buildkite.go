package ci

import (
	"cmp"
	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// readBuildkite follows https://buildkite.com/docs/pipelines/configure/step-types/command-step
func readBuildkite(root *doc.Node) (Pipeline, error) {
	p := Pipeline{Strength: Always, Line: 1}
	list := root.Get("steps")
	if root.Kind == doc.List {
		list = root
	}
	buildkiteSteps(&p, list, 0)
	return p, nil
}

func buildkiteSteps(p *Pipeline, list *doc.Node, depth int) {
	for _, s := range list.Members() {
		if group := s.Get("steps"); group != nil && depth < 5 {
			buildkiteSteps(p, group, depth+1)
			continue
		}
		job := Job{Name: cmp.Or(s.Text("key"), s.Text("label")), Line: s.Line, Strength: Always, Cells: cells(matrixSetup(s.Get("matrix")))}
		switch soft := s.Get("soft_fail"); {
		case soft != nil && soft.Value != "false", s.Get("skip") != nil && s.Text("skip") != "false":
			job.Strength = Never
		case s.Get("branches") != nil:
			job.Strength = Elsewhere
		case s.Get("if") != nil:
			job.Strength = Sometimes
		}
		for _, key := range []string{"command", "commands"} {
			job.Steps = append(job.Steps, scriptSteps(s.Get(key), shell.Options{Errexit: true})...)
		}
		p.Jobs = append(p.Jobs, job)
	}
}

// matrixSetup is where Buildkite keeps a matrix's axes.
func matrixSetup(m *doc.Node) *doc.Node {
	if setup := m.Get("setup"); setup != nil {
		return setup
	}
	if m != nil && m.Kind == doc.List {
		return &doc.Node{Kind: doc.Map, Items: []*doc.Node{{Kind: doc.List, Key: "matrix", Items: m.Items}}}
	}
	return m
}
