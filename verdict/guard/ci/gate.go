package ci

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"touchstone/verdict/guard/change"
	"touchstone/verdict/guard/doc"
)

var (
	// results matches what a workflow of GitHub reads of the jobs that a job needs: the results of all, or of one by its name.
	results = regexp.MustCompile(`(?i)needs\.\*\.result|tojson\(needs\)|needs\.([\w-]+)\.result`)
	// skipped matches what asks whether a job ran at all, whatever its result.
	skipped = regexp.MustCompile(`needs\.[\w-]+\.result\s*[!=]=\s*'skipped'`)
	// despite matches the conditions with which GitHub runs a job although a job that it needs failed.
	despite = regexp.MustCompile(`\b(?:always|cancelled|failure)\(\)`)
	word    = regexp.MustCompile(`[\w-]+`)
)

// judged returns the jobs whose failure fails a job of GitHub that runs nevertheless: a step reads their results, and can
// fail. In other systems any job fails the pipeline.
func judged(j *doc.Node, steps []Step) (names []string) {
	for i, n := range j.Get("steps").Members() {
		check, _ := actionCheck(steps[i].Uses, steps[i].With)
		if !despite.MatchString(j.Text("if")) || steps[i].Strength(Cell{dynamic: "true"}) == Never ||
			check != "alls-green" && !steps[i].decides() {
			continue
		}
		allowed := word.FindAllString(steps[i].With["allowed-failures"], -1)
		for _, m := range results.FindAllStringSubmatch(skipped.ReplaceAllString(j.Text("if")+all(j.Get("env"))+all(n), ""), -1) {
			names = append(names, slices.DeleteFunc(j.Get("needs").Strings(), func(need string) bool {
				return m[1] != "" && m[1] != need || slices.Contains(allowed, need)
			})...)
		}
	}
	return names
}

// all is the text of a document and of everything in it.
func all(n *doc.Node) (text string) {
	for _, item := range n.Members() {
		text += " " + item.Value + all(item)
	}
	return text
}

// judges reports whether the failure of a job of a pipeline, or of a job that waits for it, fails a job that judges.
func (s side) judges(pipeline, name string) bool {
	for id, gate := range s.jobs {
		if strings.HasPrefix(id, pipeline+"\x00") && gate.Strength >= Sometimes && slices.ContainsFunc(gate.Judged, func(o string) bool {
			return o == name || slices.Contains(s.jobs[pipeline+"\x00"+o].Needs, name)
		}) {
			return true
		}
	}
	return false
}

// gates holds jobs that run as before and no longer fail the job that says whether all of them succeeded.
func (c *comparison) gates() {
	for _, id := range slices.Sorted(maps.Keys(c.before.jobs)) {
		was, is := c.before.jobs[id], c.after.jobs[id]
		pipeline, _, _ := strings.Cut(id, "\x00")
		for _, name := range was.Judged {
			if was.Strength >= Sometimes && len(is.Cells) > 0 && c.after.jobs[pipeline+"\x00"+name].Strength >= Sometimes &&
				!c.after.judges(pipeline, name) {
				c.add(change.Hold, change.CI, "gate", fmt.Sprintf("The failure of the job %s no longer fails the job %s.", name, was.Name),
					change.Place{Path: pipeline, Line: is.Line, Before: name})
			}
		}
	}
}
