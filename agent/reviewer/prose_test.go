package reviewer

import (
	"strings"
	"testing"

	"touchstone/verdict"
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
		"\\`<details>` and \\\\`<b>`":           "\\`&lt;details>` and \\\\`&lt;b>`",
		"1 < 2 and x <- y":                      "1 < 2 and x <- y",
		"~~~\n```\n<pre>\n~~~\n<pre>":           "~~~\n```\n<pre>\n~~~\n&lt;pre>",
		"```\nnot closed by ``` this\n</div>":   "```\nnot closed by ``` this\n</div>\n```",
		"```one line``` is a span, not a <pre>": "```one line``` is a span, not a &lt;pre>",
		"a `\n`<details>` b\nc `<i>`":           "a `\n`&lt;details>` b\nc `&lt;i>`",
		"a `\n\n`Vec<T>` b":                     "a `\n\n`Vec<T>` b",
	} {
		if got := prose(given); got != want {
			t.Errorf("%q\n got %q\nwant %q", given, got, want)
		}
	}
}

func TestATextInALineLeavesNoCodeSpanOpen(t *testing.T) {
	for given, want := range map[string]string{
		"a `b` c":               "a `b` c",
		"a ` b":                 "a &#96; b",
		"a ``b` c":              "a &#96;&#96;b&#96; c",
		"a `b` `` c":            "a `b` &#96;&#96; c",
		"a \\` b":               "a \\` b",
		"`Vec<T>` and ` <b> ``": "`Vec<T>` and &#96; &lt;b> &#96;&#96;",
	} {
		if got := inline(given); got != want {
			t.Errorf("%q\n got %q\nwant %q", given, got, want)
		}
	}
	if got := code("\x01"); got != "`?`" {
		t.Errorf("an empty span is %q", got)
	}
}

// TestManyRefutedCandidatesFoldNothingElse checks that a list that is too long ends its fold.
func TestManyRefutedCandidatesFoldNothingElse(t *testing.T) {
	long := strings.Repeat("It is <b> long, and `Vec<T>` too. ", 40)
	j := verdict.Judgement{}
	for range verdict.MaxFindings {
		j.Answer.Candidates = append(j.Answer.Candidates,
			verdict.Candidate{Rule: "@octocat\n<!-- x -->", Path: "a.go", Claim: long, Reason: long})
	}
	body, _ := paginate([]string{"above", refuted(j), "below"}, "foot", "abc")
	if !strings.Contains(body, "[shortened]\n\n</details>\n\nbelow") || len(body) > maxComment+200 {
		t.Errorf("%d bytes end in %q", len(body), body[len(body)-200:])
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
