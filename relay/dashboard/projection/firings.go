package projection

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"touchstone/relay/event"
	"touchstone/verdict"
)

// kind is what similar findings have in common.
type kind struct {
	Rule       string            `json:"rule"`
	Dimension  verdict.Dimension `json:"dimension,omitempty"`
	Severity   verdict.Severity  `json:"severity"`
	Status     verdict.Status    `json:"status"`
	Model      string            `json:"model,omitempty"`
	Guidelines string            `json:"guidelines,omitempty"`
}

// kindColumns are the columns of a kind, which columns has the fields for.
const kindColumns = "rule, dimension, severity, status, model, guidelines"

func (k *kind) columns() []any {
	return []any{&k.Rule, &k.Dimension, &k.Severity, &k.Status, &k.Model, &k.Guidelines}
}

// firing counts the findings of one kind in one repository that were first found on one day.
type firing struct {
	kind
	Findings int `json:"findings"`
	// Pulls counts the pull requests in which the rule fired for the first time.
	Pulls int `json:"pulls,omitempty"`
	// First and Last are when the first and the last of the findings were found, in milliseconds since 1970.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// weight measures how much firings tell: the number of findings, plus the number of those whose outcome is
// known. Unknown firings (nil) weigh less than no firings.
func weight(fired []firing) int {
	if fired == nil {
		return -1
	}
	sum := 0
	for _, f := range fired {
		sum += f.Findings
		if f.Status.Held() || f.Status.Wrong() {
			sum += f.Findings
		}
	}
	return sum
}

// ofRule returns an SQL condition on findings, which are those of one rule, or all if rule is empty, and args with those of the
// condition.
func ofRule(rule string, args ...any) (string, []any) {
	if rule == "" {
		return "", args
	}
	return " AND kind IN (SELECT id FROM kinds WHERE rule = ?)", append(args, rule)
}

// addFirings adds the findings of the days from one to another, from the pull requests in the file. It adds the
// findings of one rule, or of all rules if rule is empty.
func (p *Projection) addFirings(ctx context.Context, all days, from, to int64, rule string, filters ...event.Filter) error {
	of, args := ofRule(rule, dayMillis, from*dayMillis, (to+1)*dayMillis)
	for number, places := range all {
		for _, d := range places {
			if number >= from && number <= to && d.Fired == nil {
				d.Fired = []firing{}
			}
		}
	}
	var number int64
	var at place
	var f firing
	columns := append(f.columns(), &number, &at.source, &at.repo, &f.Findings, &f.Pulls, &f.First, &f.Last)
	return p.query(ctx, columns, func() error {
		d := all.of(number, at.key())
		d.Fired = append(d.Fired, f)
		return nil
	}, "SELECT "+kindColumns+`, day, source, repo, n, pulls, first, found.last FROM (
			SELECT kind, at / ? AS day, COUNT(*) AS n, SUM(before = 0) AS pulls, MIN(at) AS first, MAX(at) AS last
			FROM findings INDEXED BY findings_by_kind WHERE at >= ? AND at < ?`+of+` GROUP BY kind, day
		) AS found JOIN kinds ON kinds.id = found.kind JOIN places ON places.id = kinds.place WHERE `+
		p.allowed("kinds.place", filters...), args...)
}

// addNotedFirings adds the findings of the days from one to another, from the notes of the log.
func (p *Projection) addNotedFirings(ctx context.Context, all days, from, to int64, filters ...event.Filter) error {
	var number int64
	var text sql.RawBytes
	return p.query(ctx, []any{&number, &text}, func() error {
		places, err := decodeDay(text, filters)
		for at, d := range places {
			all.of(number, at).Fired = d.Fired
		}
		return err
	}, "SELECT day, fired FROM days WHERE day >= ? AND day <= ? AND fired <> ''", from, to)
}

// lasting returns the findings of one rule, or of all if rule is empty, of the days from one on until the day
// on which the log begins. For these days the notes may know more than the file. until is the first moment
// after them.
func (p *Projection) lasting(ctx context.Context, from int64, rule string, filters ...event.Filter) (all days, until int64, err error) {
	last, all, noted := dayOf(p.Since()), days{}, days{}
	if from > last {
		return all, from * dayMillis, nil
	}
	if err := p.addNotedFirings(ctx, noted, from, last, filters...); err != nil {
		return nil, 0, err
	}
	// Remove the other rules before the comparison by weight, because the file's side has this rule alone.
	for _, places := range noted {
		for _, d := range places {
			d.Fired = slices.DeleteFunc(d.Fired, func(f firing) bool { return rule != "" && f.Rule != rule })
		}
	}
	if err := p.addFirings(ctx, all, from, last, rule, filters...); err != nil {
		return nil, 0, err
	}
	all.join(noted)
	return all, (last + 1) * dayMillis, nil
}

// thinFirings drops the rarer half of the longest list of firings, and reports whether there was anything to
// drop.
func thinFirings(list []placed) bool {
	longest := slices.MaxFunc(list, func(a, b placed) int { return len(a.Fired) - len(b.Fired) }).Fired
	for i := range list {
		if fired := list[i].Fired; len(fired) == len(longest) && len(fired) > 1 {
			slices.SortStableFunc(fired, func(a, b firing) int { return cmp.Compare(b.Findings, a.Findings) })
			list[i].Fired = fired[:len(fired)/2]
		}
	}
	return len(longest) > 1
}
