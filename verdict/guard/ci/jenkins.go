package ci

import (
	"path"
	"strings"

	"touchstone/verdict/guard/doc"
	"touchstone/verdict/guard/shell"
)

func isJenkins(name string) bool {
	return strings.HasPrefix(path.Base(name), "Jenkinsfile") || path.Ext(name) == ".jenkinsfile"
}

// maxJenkins bounds a Jenkinsfile, in bytes.
const maxJenkins = 256 << 10

// readJenkins reads a declarative pipeline from its tokens: the scripts of its stages, and the blocks around
// them. See https://www.jenkins.io/doc/book/pipeline/syntax/
func readJenkins(content []byte) (Pipeline, error) {
	if len(content) > maxJenkins {
		return Pipeline{}, doc.ErrTooLarge
	}
	type block struct {
		name     string
		strength Strength
	}
	job := Job{Name: "pipeline", Line: 1, Strength: Always, Cells: []Cell{{}}}
	var open []block
	var words []string // of the current statement
	for _, t := range doc.Tokens(content) {
		text := strings.TrimSpace(t.Text)
		switch {
		case t.Kind == doc.Comment:
		case t.Kind == doc.String:
			strength := Always
			for _, b := range open {
				strength = min(strength, b.strength)
			}
			if contains(words, "sh", "bat") && text != "" {
				script := strings.Trim(text, `"'`)
				s := Step{Line: t.Line, Script: strings.ReplaceAll(script, `\"`, `"`), ScriptLine: t.Line - 1, Options: shell.Options{Errexit: true},
					Strength: fixed(strength)}
				if contains(words, "returnStatus") {
					s.Strength = fixed(Never)
				}
				job.Steps = append(job.Steps, s)
			}
		case text == "{":
			b := block{strings.Join(words, " "), Always}
			switch {
			case contains(words, "catchError", "warnError", "warnings"):
				b.strength = Never
			case contains(words, "when"):
				if len(open) > 0 {
					open[len(open)-1].strength = Sometimes
				}
			case contains(words, "try"):
				b.strength = Sometimes
			}
			open, words = append(open, b), nil
		case text == "}":
			open, words = open[:max(0, len(open)-1)], nil
		case strings.Contains(t.Text, "\n") && text == "" || text == ";":
			words = nil
		case text != "":
			words = append(words, text)
		}
	}
	return Pipeline{Strength: Always, Line: 1, Jobs: []Job{job}}, nil
}
