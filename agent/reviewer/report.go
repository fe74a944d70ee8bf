package reviewer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/agent/engine"
	"touchstone/agent/forge"
	"touchstone/agent/reviewer/change"
	"touchstone/verdict"
)

// GitHub refuses bodies of more than 65,536 characters. These bounds count bytes, which is on the safe side.
const (
	maxBody = 64_000
	// maxComment bounds one comment, and one block of a body, in bytes.
	maxComment = 20_000
	// maxComments bounds the comments on lines; further findings go into the body.
	maxComments = 60
	// maxListed bounds the lines of one list. maxField bounds one text of a finding, and maxPlace the name of
	// a place, in bytes.
	maxListed = 100
	maxField  = 4_000
	maxPlace  = 160
)

// render writes an outcome's review. With inline, findings that have a place in the diff become comments there. The
// others go into the body, since GitHub rejects a whole review if it does not know the line of one comment.
// Findings that an earlier round posted are listed and not posted again.
func (p *Prepared) render(ctx context.Context, out *Outcome, inline bool) error {
	j, record := out.Judgement, out.Record
	seal, err := record.Seal(p.Signer)
	if err != nil {
		return err
	}
	findings := slices.Clone(j.Answer.Findings)
	slices.SortStableFunc(findings, func(a, b verdict.Finding) int { return a.Severity.Rank() - b.Severity.Rank() })

	shownAt, head := p.places(ctx), p.at(ctx, p.Diff.Head)
	review := forge.Review{SHA: record.Head, Event: string(record.Verdict)}
	blocks := []string{p.headline(j, record)}
	blocks = append(blocks, listed("", doubts(j))...)
	blocks = append(blocks, listed(heldHeading, held(j.Holds))...)
	blocks = append(blocks, listed(suspectedHeading, answered(j.Evidence))...)
	blocks = append(blocks, listed("#### Still there from earlier rounds\n\n", p.stillThere(findings, shownAt))...)
	for _, f := range findings {
		if p.Ledger.ByID(f.ID) != nil {
			continue
		}
		shown := shownAt(f)
		if inline && shown.ok && len(review.Comments) < maxComments {
			review.Comments = append(review.Comments, p.comment(f, shown, head))
			continue
		}
		blocks = append(blocks, fmt.Sprintf("---\n%s\n\n%s", code(clip(shown.name, maxPlace)), p.describe(f, false)))
	}
	blocks = append(blocks, p.leftOut(), refuted(j), notListed(j), p.forOwners(j))
	if len(findings) > 0 {
		blocks = append(blocks, contradict)
	}
	foot := p.footer(j, record, out.session) + "\n\n" + seal
	review.Body, out.More = paginate(blocks, foot, record.Head)
	out.Review = review
	return nil
}

// paginate puts as many blocks as fit above the foot into the review's body, and the rest into further texts.
func paginate(blocks []string, foot, head string) (body string, more []string) {
	const continued = "\n\nThe rest is in the comments below."
	pages := []string{""}
	for _, block := range blocks {
		if block == "" {
			continue
		}
		block = clipBlock(block, maxComment)
		last := len(pages) - 1
		room := maxBody
		if last == 0 {
			room -= len(foot) + len(continued)
		}
		if len(pages[last])+len(block)+2 > room {
			pages = append(pages, "")
			last++
		}
		pages[last] = strings.TrimPrefix(pages[last]+"\n\n"+block, "\n\n")
	}
	for i := range pages[1:] {
		more = append(more, fmt.Sprintf("### Review of %s, continued (%d of %d)\n\n%s", verdict.Short(head), i+2, len(pages), pages[i+1]))
	}
	body = pages[0]
	if len(more) > 0 {
		body += continued
	}
	return body + "\n\n" + foot, more
}

// contradict tells people who never saw such a review what the id of a finding is for.
const contradict = "<sub>If a finding is wrong, comment `/touchstone dispute ID REASON`, and the next review judges it again. A " +
	"maintainer may accept a finding with `/touchstone waive ID REASON`.</sub>"

// headline says the result: the verdict and counts as code words them, then the session's own summary. It
// also counts the earlier findings that are gone and the files that were left out, which were not read.
func (p *Prepared) headline(j verdict.Judgement, r verdict.Record) string {
	word := "Approved"
	if r.Verdict != verdict.Approve {
		word = "Changes requested"
	}
	head := fmt.Sprintf("### %s · round %d · %s", word, r.Round, j.Sum())
	for _, way := range []struct {
		status verdict.Status
		word   string
	}{{verdict.Verified, "fixed"}, {verdict.Withdrawn, "withdrawn"}, {verdict.NotFound, "not found again"},
		{verdict.Refuted, "refuted by a second session"}} {
		if n := p.closed(r.Ledger, way.status); n > 0 {
			head += fmt.Sprintf(" · %d %s", n, way.word)
		}
	}
	lowered := slices.DeleteFunc(slices.Clone(j.Answer.Findings), func(f verdict.Finding) bool { return f.Check != verdict.Lowered })
	if n := len(lowered); n > 0 {
		head += fmt.Sprintf(" · %d lowered by a second session", n)
	}
	if r.Verdict == verdict.Approve {
		head += p.andCI()
	}
	if n := len(p.understood.LeftOut); n > 0 {
		head += " · " + verdict.Amount(n, "file", "files") + " not read"
	}
	if s := strings.TrimSpace(j.Answer.Summary); s != "" {
		head += "\n\n" + prose(clip(s, maxField))
	}
	return head
}

// andCI ends an approval's headline with the state of CI, since the merge waits for it.
func (r Remarks) andCI() string {
	if r.CI == "" {
		return ""
	}
	return " · " + r.CI
}

// closed counts the findings that this round closed with a given status.
func (r Rounds) closed(now verdict.Ledger, as verdict.Status) (n int) {
	before := map[string]verdict.Status{}
	for _, e := range r.Ledger {
		before[e.ID] = e.Status
	}
	for _, e := range now {
		if e.Status == as && before[e.ID] != as {
			n++
		}
	}
	return n
}

// listed is a list below a heading, split into blocks that each fit into one text.
func listed(heading string, lines []string) (blocks []string) {
	if n := len(lines); n > maxListed {
		lines = append(lines[:maxListed:maxListed], fmt.Sprintf("- %d more", n-maxListed))
	}
	for _, line := range lines {
		last := len(blocks) - 1
		if last < 0 || len(blocks[last])+len(line) >= maxComment {
			blocks = append(blocks, heading+line)
			heading = ""
			continue
		}
		blocks[last] += "\n" + line
	}
	return blocks
}

// doubts say why the verdict differs from the session's own.
func doubts(j verdict.Judgement) (lines []string) {
	for _, d := range j.Doubts {
		lines = append(lines, "> - "+inline(clip(d, maxField)))
	}
	return lines
}

const heldHeading = "#### Only a person can let this pass\n\nCode found the following, and no model can approve it. To let it pass, a " +
	"person with write access approves exactly this commit.\n\n"

// held lists what only a person can let pass.
func held(holds []verdict.Hold) (lines []string) {
	for _, h := range holds {
		rule := ""
		if h.Rule != "" {
			rule = " " + code(h.Rule)
		}
		at := code(clip(verdict.Place(change.Spell(h.Path), h.Line), maxPlace))
		lines = append(lines, fmt.Sprintf("- **%s**%s at %s: %s", strings.ReplaceAll(string(h.Kind), "-", " "), rule, at,
			inline(clip(h.Detail, maxField))))
	}
	return lines
}

// stillThere lists the findings of earlier rounds that this round found again.
func (p *Prepared) stillThere(findings []verdict.Finding, shown func(verdict.Finding) place) (lines []string) {
	threads := map[string]Thread{}
	for _, t := range p.Threads {
		threads[t.Finding] = t
	}
	for _, f := range findings {
		e, t := p.Ledger.ByID(f.ID), threads[f.ID]
		if e == nil {
			continue
		}
		tag := verdict.FindingTag(f.ID)
		if t.URL != "" {
			tag = "[" + tag + "](" + t.URL + ")"
		}
		note := fmt.Sprintf("open since round %d", e.First)
		switch {
		case e.Status == verdict.Verified:
			note = "back again after it was fixed"
		case e.Status == verdict.NotFound:
			note = "found again"
		case e.Status == verdict.Withdrawn:
			note = "raised again after it was withdrawn"
		case f.Kept != "":
			note += "; " + f.Kept
		case e.Status == verdict.Disputed && f.Check != verdict.Lowered:
			note += "; what was said against it does not hold"
		case t.Resolved:
			note += "; its thread was resolved, the defect was not"
		}
		if f.Check == verdict.Lowered {
			note += "; " + lowering(f) + ": " + inline(clip(f.Reach, 400))
		}
		at := code(clip(shown(f).name, maxPlace))
		lines = append(lines, fmt.Sprintf("- **[%s] %s** %s at %s: %s (%s)", f.Dimension, f.Severity, tag, at, inline(clip(f.Claim, 400)), note))
	}
	return lines
}

// notListed says what became of the findings that the session reported and the review does not list.
func notListed(j verdict.Judgement) string {
	var lines []string
	line := func(f verdict.Finding, reason string) {
		at := code(clip(verdict.Place(change.Spell(f.Path), f.Line), maxPlace))
		lines = append(lines, fmt.Sprintf("- %s at %s: %s (%s)", code(clip(f.Rule, maxPlace)), at, inline(clip(f.Claim, 400)), inline(reason)))
	}
	for _, m := range j.Merged {
		line(m.Finding, m.Reason)
	}
	for _, o := range j.Overruled {
		line(o.Finding, fmt.Sprintf("refuted by a second session: %s It names %s", ended(o.Check.Reason),
			verdict.Place(o.Check.Path, o.Check.Line)))
	}
	for _, d := range j.Dropped {
		line(d.Finding, "dropped: "+d.Reason)
	}
	if len(lines) == 0 {
		return ""
	}
	var counts []string
	for _, way := range []struct {
		n    int
		word string
	}{{len(j.Overruled), "refuted"}, {len(j.Merged), "merged"}, {len(j.Dropped), "dropped"}} {
		if way.n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", way.n, way.word))
		}
	}
	summary := "Findings that are not listed: " + strings.Join(counts, ", ")
	return details(summary, strings.Join(listed("", lines), "\n"))
}

// refuted lists the possible defects that the session looked into and refuted, and what shows that.
func refuted(j verdict.Judgement) string {
	var lines []string
	for _, c := range j.Answer.Candidates {
		at := code(clip(verdict.Place(change.Spell(c.Path), c.Line), maxPlace))
		by := ""
		if c.Seen != c.Path {
			by = " in " + code(clip(change.Spell(c.Seen), maxPlace))
		}
		lines = append(lines, fmt.Sprintf("- %s at %s: %s Refuted%s: %s", code(clip(c.Rule, maxPlace)), at, inline(clip(ended(c.Claim), 400)), by,
			inline(clip(ended(c.Reason), 400))))
	}
	if len(lines) == 0 {
		return ""
	}
	return details("Looked into and refuted: "+verdict.Amount(len(lines), "possible defect", "possible defects"),
		strings.Join(listed("", lines), "\n"))
}

// ended is a text with a full stop at its end.
func ended(text string) string {
	return strings.TrimSuffix(clip(strings.TrimSpace(text), maxField), ".") + "."
}

// forOwners tells the owners of the guidelines which rules are broken again and again.
func (p *Prepared) forOwners(j verdict.Judgement) string {
	rules := p.tripped.recurred(j)
	if len(rules) == 0 {
		return ""
	}
	var lines []string
	for _, rule := range rules {
		lines = append(lines, fmt.Sprintf("- %s, in %d other pull requests of the last %d days", code(rule), p.tripped[rule],
			int(pastSpan.Hours()/24)))
	}
	return details("For the owners of the guidelines: rules that are often broken here",
		"A type, a lint rule or a CI check that enforces one of them costs less than finding it in each review. The author of this change "+
			"need not do anything about it.\n\n"+strings.Join(lines, "\n"))
}

// details is a text that is folded until clicked. It is clipped to the room of one block, so that its end is never
// cut off, which would fold all below it, too.
func details(summary, text string) string {
	const open, end, foot = "<details><summary>", "</summary>\n\n", "\n\n</details>"
	room := maxComment - len(open) - len(summary) - len(end) - len(foot)
	return open + summary + end + clipBlock(text, room) + foot
}

// leftOut says which files the session was not shown, and why.
func (p *Prepared) leftOut() string {
	if len(p.understood.LeftOut) == 0 {
		return ""
	}
	var lines []string
	for _, f := range p.understood.LeftOut {
		lines = append(lines, fmt.Sprintf("- %s: %s", code(clip(change.Spell(f.Path), maxPlace)), f.Reason))
	}
	return details("Left out of the review: "+verdict.Amount(len(p.understood.LeftOut), "file", "files")+" that nobody wrote by hand",
		strings.Join(listed("", lines), "\n"))
}

// footer says how the review was made.
func (p *Prepared) footer(j verdict.Judgement, r verdict.Record, session engine.Result) string {
	parts := []string{
		fmt.Sprintf("round %d", r.Round),
		fmt.Sprintf("tier %s (%s)", p.understood.Tier, code(clip(p.understood.Why, maxPlace))),
		verdict.Amount(len(j.Answer.Dimensions), "dimension", "dimensions"),
		fmt.Sprintf("%d of %s", r.Coverage.Examined, verdict.Amount(r.Coverage.Files, "file", "files")),
	}
	if n := len(p.understood.Parts); n > 1 {
		parts = append(parts, fmt.Sprintf("in %d parts", n))
	}
	if p.tokens > window/2 {
		parts = append(parts, fmt.Sprintf("about %d thousand tokens to read, more than half of a context window", p.tokens/1000))
	}
	if r.Coverage.LeftOut > 0 {
		parts = append(parts, fmt.Sprintf("%d left out", r.Coverage.LeftOut))
	}
	in := r.Usage.Prompt()
	parts = append(parts, fmt.Sprintf("%d tokens in (%d %% cached), %d out", in, 100*r.Usage.CacheRead/max(in, 1), r.Usage.Output))
	if r.CostUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", r.CostUSD))
	}
	parts = append(parts, r.Duration.Round(100*time.Millisecond).String()+" of sessions")
	if session.FirstByte > 0 {
		parts = append(parts, fmt.Sprintf("first byte after %s", session.FirstByte.Round(10*time.Millisecond)))
	}
	if session.Retries > 0 {
		parts = append(parts, verdict.Amount(session.Retries, "request", "requests")+" made again")
	}
	reviewer := strings.TrimSpace(r.Engine + " " + r.Model)
	parts = append(parts, reviewer)
	if r.Checker != "" {
		parts = append(parts, "checked by "+r.Checker)
	}
	if j.Unread {
		parts = append(parts, "its text was not read by another session")
	}
	if same := verdict.SameModel(p.fixer(), reviewer, r.Checker); same != "" {
		parts = append(parts, same)
	}
	parts = append(parts, "guidelines "+r.Guidelines, "head "+verdict.Short(r.Head))
	if session.Switched != "" {
		parts = append(parts, inline(clip(session.Switched, maxField)))
	}
	return small(parts)
}

// small writes facts below everything else, folded until clicked.
func small(parts []string) string {
	return details("How this review came about", verdict.Prose(strings.Join(parts, " · ")))
}

// clip shortens text to at most n bytes and says so.
func clip(text string, n int) string {
	const note = " … [shortened]"
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:max(0, n-len(note))], "") + note
}
