package ci

import (
	_ "embed"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/table"
)

//go:embed checks.txt
var checksText string

// The words of checks.txt, where each section is explained.
var (
	checks         = table.Read(checksText)
	actions        = checks.Pairs("actions")
	commandActions = checks.Pairs("commands")
	gating         = checks.Words("gating")
	formatters     = checks.Lines("formatters")
	ignoring       = checks.Lists("ignoring")
	leaving        = checks.Words("leaving")
	hosted         = checks.Words("hosted")
	covering       = checks.Lists("covering")
	steering       = checks.Words("steering")
	testing        = checks.Words("testing")
	payload        = checks.Words("payload")
	pulls          = checks.Pairs("pulls")
	global         = checks.Words("global")
	standard       = checks.Words("standard")
	travisScripts  = checks.Pairs("travisScripts")
	travisAxes     = checks.Words("travisAxes")
)

// actionCheck returns the check that an action performs, and its arguments.
func actionCheck(uses string, with map[string]string) (name string, args []string) {
	uses = strings.ToLower(uses)
	for prefix, check := range actions {
		rest, ok := strings.CutPrefix(uses, prefix)
		if !ok || !strings.ContainsAny((rest + "@")[:1], "@/:") && !strings.ContainsAny(prefix[len(prefix)-1:], "/-@") { // the name goes on
			continue
		}
		args := []string{check}
		for key, value := range with {
			if slices.Contains(gating, key) {
				args = append(args, "--"+key+"="+value)
			}
		}
		return check, append(args, strings.Fields(with["args"])...)
	}
	return "", nil
}

// actionScript returns the command line that an action runs, "" if it runs none.
func actionScript(uses string, with map[string]string) string {
	for prefix, command := range commandActions {
		if !strings.HasPrefix(strings.ToLower(uses), prefix) {
			continue
		}
		return strings.TrimSpace(given.ReplaceAllStringFunc(command, func(key string) string { return with[strings.Trim(key, "{}")] }))
	}
	return ""
}

var given = regexp.MustCompile(`\{\w+\}`)

// isAction reports whether a file is one of the repository's own composite actions.
func isAction(name string) bool {
	base := path.Base(name)
	return base == "action.yml" || base == "action.yaml"
}

// action is the steps of a composite action, and the values that its inputs have if nothing else is given.
type action struct {
	steps  []Step
	inputs Cell
}

// readAction reads a composite action; an action that does not parse has no steps. It reports false for one that is a
// program, which is not read.
func readAction(name string, content []byte) (a action, composite bool) {
	root, err := doc.Parse(name, content)
	if using := root.Text("runs", "using"); err != nil || using == "docker" || strings.HasPrefix(using, "node") {
		return action{}, err != nil
	}
	a = action{githubJob(root, &doc.Node{Kind: doc.Map, Items: root.Get("runs").Members()}).Steps, Cell{}}
	parseOnce(a.steps)
	for _, input := range root.Get("inputs").Members() {
		a.inputs.give(input.Key, input.Text("default"))
	}
	return a, true
}

// give adds an input, unless an expression makes its value.
func (c Cell) give(input, value string) {
	key := "inputs." + strings.ToLower(input)
	if c[key] = value; strings.Contains(value, "${{") {
		delete(c, key)
	}
}

// inline replaces each use of one of the repository's own actions by the action's steps.
func inline(p Pipeline, actions map[string]action) Pipeline {
	for i, job := range p.Jobs {
		var steps []Step
		for _, s := range job.Steps {
			inner, known := actions[path.Clean(strings.TrimPrefix(strings.TrimPrefix(s.Uses, "$/"), "./"))]
			if !known || !strings.HasPrefix(s.Uses, "./") && !strings.HasPrefix(s.Uses, "$/") {
				steps = append(steps, s)
				continue
			}
			given := maps.Clone(inner.inputs)
			for input, value := range s.With {
				given.give(input, value)
			}
			for _, one := range inner.steps {
				own := one.Strength
				one.Line, one.ScriptLine = s.Line, s.Line-1
				one.Strength = func(c Cell) Strength {
					inside := maps.Clone(c)
					maps.Copy(inside, given)
					return min(own(inside), s.Strength(c))
				}
				steps = append(steps, one)
			}
		}
		p.Jobs[i].Steps = steps
	}
	return p
}
