package ci

import (
	"path"
	"strings"

	"touchstone/verdict/guard/doc"
)

// isAction reports whether a file is one of the repository's own composite actions.
func isAction(name string) bool {
	base := path.Base(name)
	return (base == "action.yml" || base == "action.yaml") && strings.HasPrefix(name, ".github/")
}

// readAction reads the steps of a composite action; an action that does not parse has none.
func readAction(name string, content []byte) []Step {
	root, err := doc.Parse(name, content)
	if err != nil {
		return nil
	}
	return githubJob(root, &doc.Node{Kind: doc.Map, Items: root.Get("runs").Members()}).Steps
}

// inline replaces each use of one of the repository's own actions by the action's steps.
func inline(p Pipeline, actions map[string][]Step) Pipeline {
	for i, job := range p.Jobs {
		var steps []Step
		for _, s := range job.Steps {
			inner, known := actions[path.Clean(strings.TrimPrefix(strings.TrimPrefix(s.Uses, "$/"), "./"))]
			if !known || !strings.HasPrefix(s.Uses, "./") && !strings.HasPrefix(s.Uses, "$/") {
				steps = append(steps, s)
				continue
			}
			for _, one := range inner {
				own := one.Strength
				one.Line, one.ScriptLine = s.Line, s.Line-1
				one.Strength = func(c Cell) Strength { return min(own(c), s.Strength(c)) }
				steps = append(steps, one)
			}
		}
		p.Jobs[i].Steps = steps
	}
	return p
}
