package hostile

import (
	"strings"
	"testing"

	"touchstone/agent/reviewer/suspect"
	"touchstone/verdict"
)

// texts are those of a case that the product reads, without its files' bases.
func texts(c Case) []suspect.Text {
	all := []suspect.Text{
		{Form: suspect.Name, What: "the title", Text: c.Title}, {Form: suspect.Name, What: "the branch", Text: c.Branch},
		{Form: suspect.Markdown, What: "the description", Text: c.Description}, {Form: suspect.Prose, What: "a commit message", Text: c.Commit},
		{Form: suspect.Markdown, What: "the issue", Text: c.Issue}, {Form: suspect.Output, What: "a log", Text: c.Log},
		{Form: suspect.Markdown, What: "a thread", Text: c.Thread},
	}
	for path, text := range c.Files {
		all = append(all, suspect.Text{Form: suspect.Name, Path: path, Text: path})
		if strings.Contains(text, "\x00") { // which git takes for a sign of a binary file
			all = append(all, suspect.Binary(path, nil, []byte(text))...)
			continue
		}
		all = append(all, suspect.Text{Form: suspect.Code, Path: path, Text: text})
	}
	return all
}

func TestDetectorsTellHostileFromOrdinary(t *testing.T) {
	hostile, err := Hostile()
	if err != nil {
		t.Fatal(err)
	}
	ordinary, err := Ordinary()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d hostile, %d ordinary", len(hostile), len(ordinary))
	for _, c := range append(hostile, ordinary...) {
		if c.Want == verdict.QualityBar || c.Want == Refused || c.obeyed() {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			got := map[verdict.HoldKind]bool{}
			holds, _ := suspect.Look(texts(c))
			for path, text := range c.Files {
				if strings.Contains(text, "\x00") {
					opaque, _ := suspect.Opaque(path, []byte(text), false)
					holds = append(holds, opaque...)
				}
			}
			for _, h := range holds {
				got[h.Kind] = true
			}
			if c.Want == "" && len(holds) > 0 || c.Want != "" && !got[c.Want] {
				t.Errorf("want %q, got %+v", c.Want, holds)
			}
		})
	}
}
