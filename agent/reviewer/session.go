package reviewer

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/reviewer/change"
	"touchstone/guidelines"
	"touchstone/verdict"
)

// Examination is the result of a session.
type Examination struct {
	Judgement verdict.Judgement
	// Result sums the figures of all turns; it has no text.
	Result engine.Result
	// Checker is the engine and the model that were asked to refute findings, or to read an approval's text; empty if none.
	Checker string
}

// Instructions are the fixed instructions of a session: its role, the form of its answer, and the guidelines.
// They are the same for every change under the same guidelines, and engines send them where the provider's
// cache keeps them for the next review.
func (m material) Instructions() string {
	return guidelines.ReviewerInstructions() + answerFormat +
		"\n# Guidelines\n\n" + m.criteria.text
}

// Prompts are the prompts of a session that reviews the change, one for each turn, each with its own nonce.
func (m material) Prompts() []Prompt {
	prompts := make([]Prompt, len(m.understood.Parts))
	for i := range prompts {
		prompts[i] = m.prompt(i, rand.Text())
	}
	return prompts
}

// prompt asks about one part of the change. Only the first turn has what all parts need: the session
// remembers it.
func (m material) prompt(part int, nonce string) Prompt {
	rest := Prompt{{"change", m.changed(part)}, {"evidence", m.evidence(part)}, {"closing", verdictClosing(nonce)}}
	if part > 0 {
		return rest
	}
	return append(Prompt{
		{"subject", m.subject()},
		{"rows", m.rows()},
		{"said", m.quoteTexts()},
		{"guides", m.guidance()},
		{"earlier rounds", m.earlier()},
		{"recurrence", m.recurring()},
	}, rest...)
}

// Examine runs the session: one turn for each part of the change, and one more if an answer is incomplete. An
// *engine.Error means that the session did not finish: there is no verdict, and the Examination only has its
// Result. Argument allowed bounds the session in addition to the engine's settings.
func (p *Prepared) Examine(ctx context.Context, progress func(engine.Progress), allowed verdict.Allowance) (x Examination, err error) {
	if len(p.understood.Parts) == 0 {
		x.Judgement.Withhold("The change is empty: there is nothing to review.")
		return x, nil
	}
	e, tier := p.examiner, p.understood.Tier
	settings := e.Settings.Present()
	// Each part gets as much time as a change with one part.
	timeout := tier.Budget(cmp.Or(settings.Timeout.Duration(), engine.DefaultTimeout)) * time.Duration(len(p.understood.Parts))
	opened, material := within(p.tempDir), p.material
	// While the session goes on, others read its text: read is what they cost, and spare is the time that they have besides
	// the session's own.
	var read atomic.Pointer[verdict.Cost]
	read.Store(&verdict.Cost{})
	spare := time.Duration(math.MaxInt64)
	if allowed.Time > 0 {
		timeout = min(timeout, allowed.Time)
		spare = allowed.Time - timeout
	}
	req := engine.Request{
		Role: engine.Reviewer, Dir: p.Dir, ReadDirs: []string{p.tempDir}, Instructions: p.Instructions(),
		Model: settings.ModelFor(config.Task(tier)), Effort: settings.EffortFor(config.Task(tier)), Timeout: timeout,
		IdleTimeout: settings.IdleTimeout.Duration(),
		Progress: oneByOne(func(happened engine.Progress) {
			opened.note(happened)
			if progress != nil {
				progress(happened)
			}
		}),
		Budget: allowed.USD, MaxTurns: settings.MaxTurns,
		Others: func() verdict.Cost {
			c := *read.Load()
			c.Time = max(0, c.Time-spare)
			return c
		},
	}
	var aside verdict.Judgement // what the specialists reported, and is no evidence
	if p.criteria.settings.Review.Strategy == config.StrategySpecialists {
		var candidates []verdict.Evidence
		first := req
		first.Progress = oneByOne(progress) // what they open, the session that judges has not read
		if allowed.Time > 0 {
			first.Timeout = min(timeout, allowed.Time/2) // the other half is for the session that judges
		}
		if candidates, aside, err = p.specialists(ctx, &x, first); err != nil {
			return x, err
		}
		material.suspicions = slices.Concat(material.suspicions, candidates)
		if allowed.Time > 0 {
			left := allowed.Time - x.Result.Duration
			if left <= 0 { // a request's zero would mean another bound
				return x, engine.Errorf(engine.Timeout, "specialists took all of the review's %s", allowed.Time)
			}
			req.Timeout = min(timeout, left)
			spare = left - req.Timeout
		}
		if allowed.USD > 0 {
			req.Budget = max(allowed.USD-x.Result.CostUSD, allowed.USD/float64(len(groups)+1))
		}
	}
	session, err := e.Engine.Open(ctx, req)
	if err != nil {
		return x, err
	}
	defer func() {
		if closing := session.Close(); closing != nil {
			// A leftover directory is no reason to lose the outcome.
			zerolog.Ctx(ctx).Warn().Err(closing).Msg("the session could not be cleared away")
		}
	}()
	talk := &talk{session: session, material: material, grounds: material.grounds(ctx), opened: opened, x: &x, describe: map[string]bool{},
		readBack: func(ctx context.Context, j *verdict.Judgement, g verdict.Grounds) error {
			before := x.Result
			err := p.readBack(ctx, &x, j, g, progress, allowed)
			cost := read.Load().Plus(verdict.Cost{USD: x.Result.CostUSD - before.CostUSD, Time: x.Result.Duration - before.Duration})
			read.Store(&cost)
			return err
		}}
	var answers []verdict.Judgement
	for part := range p.understood.Parts {
		answer, err := talk.over(ctx, part)
		if err != nil {
			return x, err
		}
		answers = append(answers, answer)
		talk.listen(answer)
	}
	x.Judgement = verdict.Join(answers...)
	x.Judgement.Inherit(aside)
	if p.sheet != "" && opened.called(filepath.Base(p.sheet)) {
		opened.shows(p.quoted)
	}
	opened.own(x.Judgement.Answer.Dimensions, p.Dir, p.Diff.Files)
	before := x.Judgement.Verdict
	if err = p.check(ctx, &x, progress, allowed); err == nil && x.Judgement.Verdict != before {
		// Another session refuted what blocked. What the session said on the parts with it was not read yet, and it is not
		// asked again.
		err = p.readBack(ctx, &x, &x.Judgement, p.groundsOfAll(ctx), progress, allowed)
	}
	return x, err
}

// talk is a running session.
type talk struct {
	session  engine.Session
	material material
	grounds  verdict.Grounds
	opened   *opened
	x        *Examination
	// again says that the session was already asked once more about an incomplete answer.
	again bool
	// describe holds the ids of the earlier findings that the session has accounted for.
	describe map[string]bool
	// readBack takes an approval back if its text names a defect that its lists lack.
	readBack func(context.Context, *verdict.Judgement, verdict.Grounds) error
}

// over has the session examine one part of the change.
func (t *talk) over(ctx context.Context, part int) (verdict.Judgement, error) {
	t.grounds.Changed, t.grounds.Named = nil, nil
	files := map[string]change.File{}
	for _, f := range t.material.understood.Parts[part] {
		name := change.Spell(f.Path)
		t.grounds.Changed = append(t.grounds.Changed, name)
		files[name] = f
	}
	t.grounds.Opened = func(name string) bool { return t.opened.all(files[name]) }
	t.grounds.Due = slices.DeleteFunc(t.material.due(part), func(e verdict.Entry) bool { return t.describe[e.ID] })
	t.grounds.Evidence = t.material.suspected(part)
	nonce := rand.Text()
	first, err := t.ask(ctx, t.material.prompt(part, nonce), nonce)
	if err != nil || first.Conclusive() || t.again {
		return first, err
	}
	t.again = true
	t.grounds.Named = first.Named
	// What the first answer already covered is in the prompt of a session that begins anew, and its findings are kept.
	t.grounds.Opened = func(name string) bool {
		return slices.Contains(first.Answer.Files, name) || t.opened.all(files[name])
	}
	nonce = rand.Text()
	second, err := t.ask(ctx, t.material.again(ctx, first, t.grounds.Changed, nonce), nonce)
	return mended(first, second), err
}

// listen records which earlier findings an answer accounted for.
func (t *talk) listen(answer verdict.Judgement) {
	for _, f := range answer.Answer.Findings {
		t.describe[f.ID] = true
	}
}

// due are the earlier findings that the answer on one part must account for: those in the part's files and,
// for the last part, those in no changed file.
func (m material) due(part int) []verdict.Entry {
	partOf := m.partOf()
	return slices.DeleteFunc(slices.Clone(m.Ledger), func(e verdict.Entry) bool { return m.criteria.decides(e) || partOf(e.Path) != part })
}

// partOf returns the number of a changed file's part by the file's present or former name, and that of the last part for
// every other name.
func (m material) partOf() func(name string) int {
	at := map[string]int{}
	for i, files := range m.understood.Parts {
		for _, f := range files {
			if f.OldPath != "" {
				at[change.Spell(f.OldPath)] = i
			}
		}
	}
	for i, files := range m.understood.Parts {
		for _, f := range files {
			at[change.Spell(f.Path)] = i
		}
	}
	return func(name string) int {
		if i, ok := at[name]; ok {
			return i
		}
		return len(m.understood.Parts) - 1
	}
}

// ask runs one turn and judges its answer.
func (t *talk) ask(ctx context.Context, prompt Prompt, nonce string) (verdict.Judgement, error) {
	result, err := t.session.Ask(ctx, prompt.String())
	sum := &t.x.Result
	if sum.Started.IsZero() {
		sum.Started, sum.FirstByte = result.Started, result.FirstByte
	}
	sum.SessionID, sum.Engine, sum.Model = result.SessionID, result.Engine, result.Model
	sum.Switched = cmp.Or(sum.Switched, result.Switched)
	t.x.Result.Add(result)
	if err != nil {
		return verdict.Judgement{}, err
	}
	j := verdict.Judge(result.Text, nonce, t.grounds)
	return j, t.readBack(ctx, &j, t.grounds)
}

// again asks once more after an incomplete answer.
func (m material) again(ctx context.Context, answer verdict.Judgement, files []string, nonce string) Prompt {
	lacks := slices.Clone(answer.Doubts)
	read, ask := answer.Answer.Findings != nil, "Give"
	if read {
		ask = "Examine what you left out. Then give"
	}
	for _, f := range files {
		if read && !slices.Contains(answer.Answer.Files, f) {
			lacks = append(lacks, "not examined: "+f)
		}
	}
	for _, f := range answer.Answer.Findings {
		if f.Kept != "" {
			lack := fmt.Sprintf("earlier finding %s stands, because %s", f.ID, f.Kept)
			if e := m.Ledger.ByID(f.ID); e != nil {
				lack += m.compared(ctx, *e)
			}
			lacks = append(lacks, lack)
		}
	}
	for _, d := range answer.Dropped {
		lacks = append(lacks, fmt.Sprintf("dropped, because %s: %s at %s: %s", d.Reason, d.Finding.Rule,
			verdict.Place(d.Finding.Path, d.Finding.Line), clip(d.Finding.Claim, 200)))
	}
	return Prompt{
		{"again", "\n# Once more\n\nYour last answer cannot be used as it is:\n" + m.whole(Passage{"what it lacks", strings.Join(lacks, "\n")}) +
			"\n" + ask + " the whole answer again, in the same form: all dimensions, every changed file of this turn, " +
			"all findings, the earlier ones too, be it among those that are gone, and an answer to each piece of evidence. What you take back " +
			"goes under candidates.\n"},
		{"closing", verdictClosing(nonce)},
	}
}

// mended combines two answers to the same question: the second one, and everything that the first one found.
// The second replaces the first only if it is complete.
func mended(first, second verdict.Judgement) verdict.Judgement {
	if !second.Complete {
		return verdict.Join(first, second)
	}
	// The second answer accounts for findings that only code kept.
	own := slices.DeleteFunc(slices.Clone(first.Answer.Findings), func(f verdict.Finding) bool { return f.Kept != "" })
	found := verdict.Judgement{Verdict: verdict.Approve, Complete: true, Answer: verdict.Answer{Findings: own}}
	if slices.ContainsFunc(own, verdict.Finding.Blocks) {
		found.Verdict = verdict.RequestChanges
	}
	second.Inherit(first)
	return verdict.Join(found, second)
}

// coverage counts the files that had to be examined, and those that were.
func coverage(understood change.Change, j verdict.Judgement) verdict.Coverage {
	c := verdict.Coverage{Files: len(understood.Files), LeftOut: len(understood.LeftOut)}
	examined := map[string]bool{}
	for _, name := range j.Answer.Files {
		examined[name] = true
	}
	for _, f := range understood.Files {
		if examined[change.Spell(f.Path)] {
			c.Examined++
		}
	}
	return c
}

// record is the record for the posted review.
func (p *Prepared) record(x Examination) verdict.Record {
	r := verdict.Record{
		Head: p.Head, Base: p.Base, BaseBranch: p.BaseBranch, Tree: p.Tree, PatchID: p.PatchID,
		Round: p.Round, Guidelines: p.criteria.version, Ledger: p.Ledger, LastComment: p.LastComment, Tier: string(p.understood.Tier),
		Coverage: coverage(p.understood, x.Judgement),
		Lines:    p.understood.Lines, Checker: x.Checker,
		Engine: cmp.Or(x.Result.Engine, p.examiner.Engine.Name()), Model: x.Result.Model, CostUSD: x.Result.CostUSD,
		Duration: x.Result.Duration.Round(time.Millisecond),
		Usage:    x.Result.Usage,
	}
	r.State(p.Title, p.Body, p.Commits)
	r.Enter(x.Judgement)
	return r
}
