package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"touchstone/agent/terminal"
	"touchstone/verdict/guard"
)

// PrintFindings prints findings. evidence is the number of pieces of evidence, shown or not.
func PrintFindings(out io.Writer, found []guard.Finding, evidence int, format string) error {
	switch format {
	case "json":
		return PrintJSON(out, map[string]any{"findings": withRows(found)})
	case "sarif":
		return PrintJSON(out, GuardSARIF(found))
	case "github":
		return PrintAnnotations(out, found)
	}
	var text strings.Builder
	holds := 0
	for _, g := range guard.Groups(found) {
		if g.Tier == guard.Hold {
			holds++
		}
		fmt.Fprintf(&text, "%s: %s\n", g.Tier, g.Kind)
		for _, f := range g.Findings {
			fmt.Fprintf(&text, "  %s:%d: %s [%s]\n", terminal.Plain(f.Path), f.Line, terminal.Plain(f.Why), f.Rule)
			same := f.Before == f.After // what changed is around the command, or nothing is quoted
			if f.Before != "" && !same {
				fmt.Fprintf(&text, "    - %s\n", terminal.Plain(f.Before))
			}
			if f.After != "" && !same {
				fmt.Fprintf(&text, "    + %s\n", terminal.Plain(f.After))
			}
			if f.Others != "" {
				fmt.Fprintf(&text, "    %s\n", terminal.Plain(f.Others))
			}
		}
	}
	switch holds {
	case 0:
		text.WriteString("guard: nothing here certainly lowers the quality bar\n")
	case 1:
		text.WriteString("guard: 1 hold; undo it, or have a person approve it\n")
	default:
		fmt.Fprintf(&text, "guard: %d holds; undo them, or have a person approve them\n", holds)
	}
	if evidence > 0 && len(found) == len(guard.Holds(found)) {
		fmt.Fprintf(&text, "guard: %d more may lower it; see them with --all\n", evidence)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// PrintJSON writes a value as indented JSON in which <, > and & stay as they are.
func PrintJSON(out io.Writer, value any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}

// rowed is a finding with the guideline row for its kind.
type rowed struct {
	guard.Finding
	Row string `json:"row,omitempty"`
}

func withRows(found []guard.Finding) []rowed {
	out := make([]rowed, len(found))
	for i, f := range found {
		out[i] = rowed{f, f.Kind.Row()}
	}
	return out
}

// GuardSARIF returns findings as SARIF 2.1.0. GitHub shows holds as errors and evidence as notes. See
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
func GuardSARIF(found []guard.Finding) any {
	results := []object{}
	for _, f := range found {
		level := "note"
		if f.Tier == guard.Hold {
			level = "error"
		}
		place := object{"artifactLocation": object{"uri": reference(f.Path)}}
		if f.Line > 0 {
			place["region"] = object{"startLine": f.Line}
		}
		results = append(results, object{
			"ruleId": f.Rule, "level": level, "message": object{"text": f.Message()},
			"locations": []object{{"physicalLocation": place}}, "properties": object{"tier": f.Tier, "kind": f.Kind, "before": f.Before,
				"after": f.After},
		})
	}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": object{"name": "touchstone guard"}}, "results": results}},
	}
}

// PrintAnnotations writes workflow commands.
func PrintAnnotations(out io.Writer, found []guard.Finding) error {
	for _, f := range found {
		level := "notice"
		if f.Tier == guard.Hold {
			level = "error"
		}
		if err := Annotate(out, level, f.Path, f.Line, string(f.Kind)+" ("+f.Rule+")", f.Message()); err != nil {
			return err
		}
	}
	return nil
}

var (
	annotationText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	annotationProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Annotate writes the workflow command that shows a text beside a line. See
// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
func Annotate(out io.Writer, level, path string, line int, title, text string) error {
	_, err := fmt.Fprintf(out, "::%s file=%s,line=%d,title=%s::%s\n", level, annotationProperty.Replace(path), max(line, 1),
		annotationProperty.Replace(title), annotationText.Replace(text))
	return err
}
