package reviewer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/worktree"
)

// GitHub refuses bodies of more than 65,536 characters. Counting bytes stays on
// the safe side.
const (
	maxBody    = 64_000
	maxComment = 20_000
	// maxComments bounds the inline comments; further findings go into the body.
	maxComments = 60
)

// report renders a judgement as the review to post. With inline, a finding whose
// lines are in the diff becomes a comment there; any other stands in the body,
// since GitHub refuses a whole review for one line it does not know.
func report(j verdict.Judgement, record verdict.Record, diff worktree.Diff, inline bool) (forge.Review, error) {
	seal, err := record.Seal()
	if err != nil {
		return forge.Review{}, err
	}
	files := map[string]worktree.FileDiff{}
	for _, f := range diff.Files {
		files[f.Path] = f
	}
	findings := slices.Clone(j.Answer.Findings)
	slices.SortStableFunc(findings, func(a, b verdict.Finding) int { return a.Severity.Rank() - b.Severity.Rank() })

	review := forge.Review{SHA: record.Head, Event: string(record.Verdict)}
	var inBody strings.Builder
	for _, f := range findings {
		file, known := files[f.Path]
		if inline && known && anchored(file, f) && len(review.Comments) < maxComments {
			c := forge.ReviewComment{Path: f.Path, Line: f.Line, Body: clip(describe(f, true), maxComment)}
			if f.StartLine > 0 && f.StartLine < f.Line {
				c.StartLine = f.StartLine
			}
			review.Comments = append(review.Comments, c)
			continue
		}
		fmt.Fprintf(&inBody, "\n---\n%s\n\n%s\n", code(place(f)), describe(f, false))
	}
	head := headline(record, findings)
	if s := strings.TrimSpace(j.Answer.Summary); s != "" {
		head += "\n\n" + verdict.Prose(s)
	}
	for _, d := range j.Doubts {
		head += "\n\n> " + verdict.Prose(d)
	}
	foot := "\n\n" + footer(record, j, len(diff.Files)) + "\n\n" + seal
	review.Body = clip(head+"\n"+inBody.String(), maxBody-len(foot)) + foot
	return review, nil
}

// anchored reports whether GitHub takes a comment on the finding's lines: all
// of them on the new side and in one hunk.
func anchored(file worktree.FileDiff, f verdict.Finding) bool {
	if f.Line <= 0 {
		return false
	}
	start := f.StartLine
	if start == 0 {
		start = f.Line
	}
	for _, h := range file.Hunks {
		if start >= h.NewStart && f.Line < h.NewStart+h.NewLines {
			return true
		}
	}
	return false
}

func headline(r verdict.Record, findings []verdict.Finding) string {
	count := map[verdict.Severity]int{}
	for _, f := range findings {
		count[f.Severity]++
	}
	var parts []string
	for _, s := range verdict.Severities() {
		if n := count[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing found")
	}
	word := "Approved"
	if r.Verdict != verdict.Approve {
		word = "Changes requested"
	}
	return fmt.Sprintf("### %s · round %d · %s", word, r.Round, strings.Join(parts, ", "))
}

// describe is one finding for its author: tag, severity and rule, then what,
// why, the fix and how to check it.
func describe(f verdict.Finding, inline bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**[%s] %s**", f.Dimension, f.Severity)
	if f.Rule != "" {
		fmt.Fprintf(&b, " · %s", code(f.Rule))
	}
	fmt.Fprintf(&b, " · finding %s\n\n%s", code(verdict.Fingerprint(f)), verdict.Prose(strings.TrimSpace(f.Claim)))
	if why := strings.TrimSpace(f.Why); why != "" {
		fmt.Fprintf(&b, "\n\n**Why it matters:** %s", verdict.Prose(why))
	}
	if fix := strings.Trim(f.Suggestion, "\r\n"); fix != "" {
		language := ""
		switch {
		case isDiff(fix):
			language = "diff"
		case inline:
			language = "suggestion"
		}
		b.WriteString("\n\n" + fenced(language, fix))
	}
	if check := strings.TrimSpace(f.Verify); check != "" {
		fmt.Fprintf(&b, "\n\n**To verify:** %s", verdict.Prose(check))
	}
	return b.String()
}

var diffLine = regexp.MustCompile(`(?m)^(@@ |--- |\+\+\+ |diff --git )`)

func isDiff(text string) bool { return diffLine.MatchString(text) }

// fenced puts text into a code block that it cannot end.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + text + "\n" + fence
}

// code puts a short text into a code span on one line.
func code(text string) string {
	return "`" + strings.Map(func(r rune) rune {
		if r == '`' || r < ' ' {
			return -1
		}
		return r
	}, text) + "`"
}

func place(f verdict.Finding) string {
	switch {
	case f.Path == "":
		return "the change as a whole"
	case f.Line == 0:
		return f.Path
	}
	return fmt.Sprintf("%s:%d", f.Path, f.Line)
}

func footer(r verdict.Record, j verdict.Judgement, files int) string {
	parts := []string{
		fmt.Sprintf("round %d", r.Round),
		fmt.Sprintf("%d of %d dimensions", len(j.Answer.Dimensions), len(verdict.Dimensions())),
		fmt.Sprintf("%d of %d files", len(j.Answer.Files), files),
		fmt.Sprintf("%d tokens in (%d cached), %d out", r.Tokens.Input+r.Tokens.CacheWrite+r.Tokens.CacheRead, r.Tokens.CacheRead, r.Tokens.Output),
	}
	if r.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", r.CostUSD))
	}
	engine := r.Engine
	if r.Model != "" {
		engine += " " + r.Model
	}
	parts = append(parts, r.Duration.Round(100*time.Millisecond).String(), engine, "guidelines "+r.Guidelines, "head "+short(r.Head))
	return "<sub>" + verdict.Prose(strings.Join(parts, " · ")) + "</sub>"
}

func short(sha string) string { return sha[:min(len(sha), 7)] }

// clip shortens text to at most n bytes and says so.
func clip(text string, n int) string {
	const note = "\n\n[shortened: the text was too long for GitHub]"
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:max(0, n-len(note))], "") + note
}
