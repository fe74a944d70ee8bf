package ci

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

// isListed reports whether a file belongs to a system whose documents contain lists of commands at any depth.
func isListed(name string) bool {
	return slices.Contains([]string{"bitbucket-pipelines.yml", ".drone.yml", ".woodpecker.yml", ".woodpecker.yaml", ".cirrus.yml",
		"appveyor.yml", ".appveyor.yml"}, name) ||
		(path.Dir(name) == ".woodpecker" || path.Dir(name) == ".buildkite") && isYAML(name)
}

// readListed reads the pipelines of Bitbucket, Buildkite, Drone, Woodpecker, Cirrus and AppVeyor: every map
// with commands is a job.
func readListed(root *doc.Node) (Pipeline, error) {
	p := Pipeline{Strength: Always, Line: 1}
	machines := axes(root, "image", "platform", "configuration")
	var walk func(n *doc.Node, strength Strength)
	walk = func(n *doc.Node, strength Strength) {
		if n.Text("failure") == "ignore" || n.Text("allow_failures") == "true" || n.Text("ignore_failures") == "true" ||
			n.Text("trigger") == "manual" || said(n.Get("skip")) || said(n.Get("soft_fail")) {
			strength = Never
		}
		switch {
		case n != root && len(n.Get("branches").Strings()) > 0:
			strength = min(strength, Elsewhere)
		case n.Get("if") != nil:
			strength = min(strength, Sometimes)
		}
		if events := n.Get("when", "event").Strings(); len(events) > 0 && !contains(events, "pull_request") {
			strength = min(strength, Elsewhere)
		}
		job := Job{Name: cmp.Or(n.Text("name"), n.Text("key"), n.Text("label"), n.Key), Line: n.Line, Strength: strength, Cells: machines}
		if m := n.Get("matrix"); m != nil {
			job.Cells = cells(matrixOf(m))
		}
		for _, item := range n.Members() {
			switch {
			case slices.Contains([]string{"script", "command", "commands", "test_script", "build_script"}, item.Key) ||
				strings.HasSuffix(item.Key, "_script"):
				job.Steps = append(job.Steps, scriptSteps(item, shell.Options{Errexit: true})...)
			case item.Key != "when":
				walk(item, strength)
			}
		}
		if len(job.Steps) > 0 {
			p.Jobs = append(p.Jobs, job)
		}
	}
	walk(root, Always)
	return p, nil
}

// said reports whether a switch exists and is not "false", whatever its value is.
func said(n *doc.Node) bool { return n != nil && n.Value != "false" }

// matrixOf is the node with the axes of a Buildkite matrix.
func matrixOf(m *doc.Node) *doc.Node {
	if m.Kind == doc.List {
		return &doc.Node{Kind: doc.Map, Items: []*doc.Node{{Kind: doc.List, Key: "matrix", Items: m.Items}}}
	}
	return cmp.Or(m.Get("setup"), m)
}
