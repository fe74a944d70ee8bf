package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"touchstone/relay/event"
	"touchstone/verdict"
)

// tell lets a story hear events, given as type, action and payload, and
// returns what it wrote.
func tell(t *testing.T, s *story, heard ...[3]string) string {
	t.Helper()
	var out bytes.Buffer
	s.out, s.rounds = &timeline{w: &out, began: time.Now()}, map[string]int{}
	for _, e := range heard {
		err := s.hear(event.Event{Type: e[0], Action: e[1], Payload: []byte(e[2]), Repo: "acme/app", Number: 1, Sender: "octocat"})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// review is the payload of a posted review.
func review(t *testing.T, r verdict.Record) string {
	t.Helper()
	seal, err := r.Seal(verdict.Signer{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(map[string]any{"review": map[string]any{"body": "### Changes requested\n\n" + seal, "commit_id": r.Head}})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestStoryFollowsTheRounds(t *testing.T) {
	first := verdict.Record{Verdict: verdict.RequestChanges, Head: "1111111111", Round: 1, CostUSD: 0.25}
	found := verdict.Judgement{Complete: true}
	for _, d := range defects(t) {
		found.Answer.Findings = append(found.Answer.Findings, d.Finding)
	}
	first.Ledger = first.Ledger.After(1, found)
	second := verdict.Record{Verdict: verdict.Approve, Head: "2222222222", Round: 2, CostUSD: 0.5,
		Ledger: first.Ledger.After(2, verdict.Judgement{Complete: true})}

	var s story
	out := tell(t, &s,
		[3]string{"ping", "", `{}`},
		[3]string{"pull_request", "opened", `{"pull_request":{"title":"Add search","head":{"sha":"1111111111"}}}`},
		[3]string{"pull_request_review", "submitted", review(t, first)},
		[3]string{"pull_request", "synchronize", `{"pull_request":{"head":{"sha":"2222222222"}}}`},
		[3]string{"check_run", "completed", `{"check_run":{"name":"test","conclusion":"failure","head_sha":"1111111111"}}`},
		[3]string{"pull_request_review", "submitted", review(t, second)},
		[3]string{"pull_request", "closed", `{"pull_request":{"merged":true,"merge_commit_sha":"3333333333","head":{"sha":"2222222222"}}}`},
	)
	for _, want := range []string{
		`opens acme/app#1 "Add search"`, "✗ failure: test", "REQUEST_CHANGES: 4 critical, 2 major, 1 minor, 1 nit",
		"pushes a fix for 8 findings", "APPROVE: 8 fixed", "squash-merges it into main as 3333333",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the story lacks %q:\n%s", want, out)
		}
	}
	for line := range strings.SplitSeq(out, "\n") {
		if strings.Contains(line, "✗ failure") && !strings.Contains(line, "    1  1111111") {
			t.Errorf("the check of the first head is not told of it: %q", line)
		}
	}
	if s.merge != "3333333333" || s.stuck != "" || s.number != 1 || s.last.Round != 2 || s.cost != 0.75 {
		t.Errorf("the story ends as %+v", s)
	}
}

func TestStoryKnowsADeadEnd(t *testing.T) {
	for want, heard := range map[string][3]string{
		"to a person":                {"pull_request", "labeled", `{"label":{"name":"needs-human"}}`},
		"without having been merged": {"pull_request", "closed", `{"pull_request":{"merged":false}}`},
		"":                           {"pull_request", "labeled", `{"label":{"name":"documentation"}}`},
	} {
		var s story
		if tell(t, &s, heard); !strings.HasSuffix(s.stuck, want) || want == "" && s.stuck != "" || s.merge != "" {
			t.Errorf("%s: stuck is %q, merge %q", heard, s.stuck, s.merge)
		}
	}
}

func TestReviewOfAPersonIsNoVerdict(t *testing.T) {
	var s story
	out := tell(t, &s, [3]string{"pull_request_review", "submitted", `{"review":{"body":"I like it","commit_id":"1111111111"}}`})
	if !strings.Contains(out, "without a verdict") || s.last.Round != 0 {
		t.Errorf("the story takes a person's words for a verdict: %+v\n%s", s, out)
	}
}

func TestRepliesInThreadsAreNotTold(t *testing.T) {
	var s story
	if out := tell(t, &s, [3]string{"pull_request_review", "submitted", `{"review":{"body":"","commit_id":"1111111111"}}`}); out != "" {
		t.Errorf("the story tells of a reply:\n%s", out)
	}
}

func TestTextSteersNoTerminal(t *testing.T) {
	var out bytes.Buffer
	line := &timeline{w: &out, width: 80}
	line.detail(plain, "critical", "Security", "a.go:1", "\x1b[2Jgone\r\nand a second line that is too long for the terminal")
	if text := strings.TrimSuffix(out.String(), "\n"); strings.ContainsAny(text, "\x1b\r\n") || len([]rune(text)) > 80 {
		t.Errorf("%q holds control characters or is too long", text)
	}
}

var escape = regexp.MustCompile("\x1b\\[[0-9]*m")

func TestLinesFitTheTerminal(t *testing.T) {
	for _, width := range []int{0, 20, 80, 100, 200} {
		var out bytes.Buffer
		line := &timeline{w: &out, width: width, colour: true, began: time.Now()}
		what := strings.Repeat("é", 70) + " the end"
		line.header()
		line.step(step{round: 1, sha: "1111111111", event: "pull_request_review.submitted", who: "reviewer", what: what, style: bad})
		line.detail(bad, "critical", "Security", "internal/store/store.go:1234", what)
		text := escape.ReplaceAllString(out.String(), "")
		for row := range strings.Lines(text) {
			if n := utf8.RuneCountInString(row) - 1; width > 0 && n >= width {
				t.Errorf("%d of %d characters: %q", n, width, row)
			}
		}
		if whole := strings.Count(text, "the end") == 2; whole != (width == 0 || width == 200) {
			t.Errorf("at %d characters all is shown: %t\n%s", width, whole, text)
		}
		if shown := strings.Contains(text, "pull_request_review.submitted"); shown != (width == 0 || width >= narrow) {
			t.Errorf("at %d characters the event is shown: %t\n%s", width, shown, text)
		}
	}
}
