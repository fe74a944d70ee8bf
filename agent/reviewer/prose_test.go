package reviewer

import (
	"strings"
	"testing"
)

func TestProseStaysWithinItsBounds(t *testing.T) {
	for given, want := range map[string]string{
		"It is wrong.":                          "It is wrong.",
		"ask @octocat":                          "ask @&#8203;octocat",
		"```suggestion\nx\n```\nmore":           "```\nx\n```\nmore",
		"  ~~~ Suggestion:-0+2\nx\n  ~~~":       "  ~~~\nx\n  ~~~",
		"> ```suggestion\n> x\n> ```":           "> ```\n> x\n> ```",
		"- ```suggestion\n  x":                  "- ```\n  x",
		"```go\nx":                              "```go\nx\n```",
		"````\n```\nx":                          "````\n```\nx\n````",
		"```\nVec<T>\n```":                      "```\nVec<T>\n```",
		"a <details> b":                         "a &lt;details> b",
		"`Vec<T>` and <b>":                      "`Vec<T>` and &lt;b>",
		"`` <details> ` </summary>":             "`` &lt;details> ` &lt;/summary>",
		"``a ` <b>`` <i>":                       "``a ` <b>`` &lt;i>",
		"    ```\n<details>":                    "    ```\n&lt;details>",
		"1 < 2 and x <- y":                      "1 < 2 and x <- y",
		"~~~\n```\n<pre>\n~~~\n<pre>":           "~~~\n```\n<pre>\n~~~\n&lt;pre>",
		"```\nnot closed by ``` this\n</div>":   "```\nnot closed by ``` this\n</div>\n```",
		"```one line``` is a span, not a <pre>": "```one line``` is a span, not a &lt;pre>",
	} {
		if got := prose(given); got != want {
			t.Errorf("%q\n got %q\nwant %q", given, got, want)
		}
	}
}

// FuzzProse reads what a model wrote. In any such text, every block it opens is
// closed, and nothing is lost but what makes a block a suggestion.
func FuzzProse(f *testing.F) {
	for _, seed := range []string{"```suggestion\nx", "~~~\n`<a>`", "``` \n````\n```", "\x00`\xff<", "> ```suggestion"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := prose(text)
		if again := prose(got + "\n\nafter <details>"); !strings.HasSuffix(again, "\n\nafter &lt;details>") {
			t.Fatalf("%q leaves something open: %q", text, got)
		}
		for line := range strings.Lines(got) {
			if suggesting.MatchString(line) {
				t.Fatalf("%q keeps a suggestion: %q", text, got)
			}
		}
	})
}
