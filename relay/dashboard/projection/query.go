package projection

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchstone/relay/event"
	"touchstone/verdict"
)

// PullQuery selects pull requests.
type PullQuery struct {
	// Scope is what the caller may see, Repo a glob of repositories; an empty Repo matches all.
	Scope event.Filter
	Repo  string
	// State is open, closed (including merged) or all; empty means open.
	State string
	// Author and Waiting are lists of logins: one of the first must have opened the pull request, and it must
	// wait for one of the second. Turn is whose turn it is. Empty matches any.
	Author, Waiting []string
	Turn            verdict.Turn
	// NotPerson excludes pull requests that are a person's turn.
	NotPerson bool
	// From and To are the days between which Moment was, excluding To; both zero means any time.
	Moment   Moment
	From, To time.Time
	// Limit and Offset select a page.
	Limit, Offset int
}

// Moment is an event in the life of a pull request by which lists are selected.
type Moment string

// The moments.
const (
	Opened     Moment = "opened"
	Answered   Moment = "answered" // opened, and reviewed then or later
	Reviewed   Moment = "reviewed" // in any round
	Found      Moment = "found"    // reviewed, with findings
	Escalated  Moment = "escalated"
	Merged     Moment = "merged"
	Unattended Moment = "unattended" // merged without calling a person or a person letting it pass
)

// Moments lists all moments.
var Moments = []Moment{Opened, Answered, Reviewed, Found, Escalated, Merged, Unattended}

// within returns the filters for a scope and a glob of repositories; an empty glob matches all.
func within(scope event.Filter, repo string) []event.Filter {
	if repo == "" {
		return []event.Filter{scope}
	}
	return []event.Filter{scope, {Repos: []string{repo}}}
}

// allowed returns an SQL condition on a column that holds the number of a place: the place is within all of the filters.
func (p *Projection) allowed(column string, filters ...event.Filter) string {
	if !slices.ContainsFunc(filters, func(f event.Filter) bool { return len(f.Sources)+len(f.Repos) > 0 }) {
		return "1"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []string
	for at, id := range p.places {
		if at.matches(filters...) {
			ids = append(ids, strconv.FormatInt(id, 10))
		}
	}
	// No place has the number 0. Before an empty list, SQLite drops the other conditions, and then cannot use an index that
	// the query names and that depends on one of them.
	return column + " IN (" + cmp.Or(strings.Join(ids, ","), "0") + ")"
}

// condition returns the SQL condition of the query, without that on the turn if turn is false.
func (p *Projection) condition(q PullQuery, turn bool) (string, []any) {
	where, args := []string{p.allowed("place", within(q.Scope, q.Repo)...)}, []any{}
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	switch q.State {
	case "", "open":
		add("rank < ?", rankEnded)
	case "closed":
		add("rank = ?", rankEnded)
	}
	oneOf := func(condition string, values []string) {
		if len(values) == 0 {
			return
		}
		where = append(where, "("+condition+strings.Repeat(" OR "+condition, len(values)-1)+")")
		for _, value := range values {
			args = append(args, value)
		}
	}
	oneOf("author = ?", q.Author)
	var waiting []string
	for _, login := range q.Waiting {
		waiting = append(waiting, "%,"+strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(login)+",%")
	}
	oneOf(`waiting LIKE ? ESCAPE '\'`, waiting)
	if turn && q.Turn != "" {
		add("turn = ?", q.Turn)
	}
	if q.NotPerson {
		add("turn <> 'person'")
	}
	if !q.From.IsZero() {
		add("id IN (SELECT pull FROM moments WHERE moment = ? AND day >= ? AND day < ?)", q.Moment, dayOf(q.From), dayOf(q.To))
	}
	return strings.Join(where, " AND "), args
}

// rankEnded is the rank of merged and closed pull requests.
const rankEnded = 4

// order returns a pull request's position in lists: open ones by turn and then the longest waiting first,
// followed by ended ones, the newest first.
func order(s Summary) (rank int, sorted int64) {
	if s.State != "open" {
		return rankEnded, -toMillis(s.Since)
	}
	rank = slices.Index([]verdict.Turn{verdict.TurnPerson, verdict.TurnAuthor, verdict.TurnReviewer}, s.Turn)
	if rank < 0 {
		rank = rankEnded - 1
	}
	return rank, toMillis(s.Since)
}

// Pulls returns the pull requests that a query selects: open ones first, beginning with those that wait for a
// person, then by waiting time, the longest first; closed ones follow, the newest first. more reports that
// there are more after them.
func (p *Projection) Pulls(ctx context.Context, q PullQuery) (list []Summary, more bool, err error) {
	where, args := p.condition(q, true)
	list = []Summary{}
	var text sql.RawBytes
	err = p.query(ctx, []any{&text}, func() error {
		var s Summary
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		list = append(list, s)
		return nil
	}, `SELECT summary FROM pulls WHERE id IN (
			SELECT id FROM pulls INDEXED BY pulls_in_order WHERE `+where+` ORDER BY rank, sorted, id LIMIT ? OFFSET ?
		) ORDER BY rank, sorted, id`, append(args, q.Limit+1, q.Offset)...)
	if len(list) > q.Limit {
		list, more = list[:q.Limit], true
	}
	return list, more, err
}

// Turns counts the pull requests that match a query by whose turn it is. It ignores the query's own Turn.
func (p *Projection) Turns(ctx context.Context, q PullQuery) (map[verdict.Turn]int, error) {
	where, args := p.condition(q, false)
	counts := map[verdict.Turn]int{}
	var turn verdict.Turn
	var n int
	err := p.query(ctx, []any{&turn, &n}, func() error {
		counts[turn] = n
		return nil
	}, "SELECT turn, COUNT(*) FROM pulls INDEXED BY pulls_in_order WHERE "+where+" GROUP BY turn", args...)
	return counts, err
}

// Repos returns the repositories within a scope that GitHub's sources sent events about, by name.
func (p *Projection) Repos(scope event.Filter) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var repos []string
	for at := range p.places {
		if at.repo != "" && p.FromGitHub(at.source) && at.matches(scope) {
			repos = append(repos, at.repo)
		}
	}
	slices.Sort(repos)
	return slices.Compact(repos)
}

// maxHappenings limits the events on a pull request's page.
const maxHappenings = 200

// Pull returns everything that is known about one pull request; known is false if nothing is, or nothing within
// the scope.
func (p *Projection) Pull(ctx context.Context, scope event.Filter, repo string, number int) (d Detail, known bool, err error) {
	var pull Pull
	var at int64
	exact := event.Filter{Repos: []string{globEscape(repo)}}
	err = p.query(ctx, []any{&at, document{&pull}, document{&d.Summary}}, func() error {
		known = true
		return nil
	}, "SELECT place, "+docOrNull+", summary FROM pulls WHERE number = ? AND "+p.allowed("place", scope, exact)+
		" ORDER BY id DESC LIMIT 1", number)
	if err != nil || !known {
		return Detail{}, false, err
	}
	if pull.Number == 0 { // the log no longer has it
		return Detail{Summary: d.Summary, Rounds: []Round{}, Findings: []Finding{}, Blockers: []string{}, Events: []Happening{},
			Checks: []NamedCheck{}, Trimmed: true}, true, nil
	}
	commits := map[string]*Commit{}
	args := []any{at}
	for _, h := range pull.Heads {
		args = append(args, h.SHA)
	}
	var sha string
	var text sql.RawBytes
	err = p.query(ctx, []any{&sha, &text}, func() error {
		commits[sha] = &Commit{}
		return json.Unmarshal(text, commits[sha])
	}, "SELECT sha, doc FROM commits WHERE place = ? AND sha IN (''"+strings.Repeat(", ?", len(pull.Heads))+")", args...)
	if err != nil {
		return Detail{}, false, err
	}
	d = newView(&pull, p.config, commits).detail()
	d.Events = []Happening{}
	log := p.config.Log.Bounds().Log
	var h Happening
	var seq, millis int64
	err = p.query(ctx, []any{&seq, &h.Type, &h.Action, &millis, &h.By, &h.Text}, func() error {
		h.ID, h.At = event.Cursor{Log: log, Seq: seq}.String(), fromMillis(millis)
		d.Events = append(d.Events, h)
		return nil
	}, "SELECT seq, type, action, at, sender, text FROM events WHERE place = ? AND number = ? AND number > 0 ORDER BY seq DESC LIMIT ?", at,
		number, maxHappenings)
	return d, true, err
}

// globEscape returns the glob that matches only this name.
func globEscape(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// EventQuery selects events. Zero values match all.
type EventQuery struct {
	Scope  event.Filter
	Filter event.Filter // further restrictions
	Number int
	// After and Before limit the events' numbers, excluding both. With Before, the newest come first.
	After, Before int64
	Limit         int
}

// Line is an event as lists display it.
type Line struct {
	Seq        int64     `json:"-"`
	ID         string    `json:"id"`
	Source     string    `json:"source"`
	Type       string    `json:"type"`
	Action     string    `json:"action"`
	Repo       string    `json:"repo"`
	Number     int       `json:"number"`
	Sender     string    `json:"sender"`
	ReceivedAt time.Time `json:"received_at"`
	Text       string    `json:"text"`
}

// Events returns the events that a query selects, and whether there are more.
func (p *Projection) Events(ctx context.Context, q EventQuery) (list []Line, more bool, err error) {
	where := []string{p.allowed("place", q.Scope, event.Filter{Sources: q.Filter.Sources, Repos: q.Filter.Repos}), "seq > ?"}
	args := []any{q.After}
	order := " ORDER BY seq LIMIT ?"
	if q.Before > 0 {
		where, args, order = append(where, "seq < ?"), append(args, q.Before), " ORDER BY seq DESC LIMIT ?"
	}
	if len(q.Filter.Types) > 0 {
		where = append(where, "type IN (?"+strings.Repeat(", ?", len(q.Filter.Types)-1)+")")
		for _, t := range q.Filter.Types {
			args = append(args, t)
		}
	}
	index := ""
	if q.Number > 0 {
		where, args, index = append(where, "number > 0", "number = ?"), append(args, q.Number), "INDEXED BY events_by_number"
	}
	list = []Line{}
	log := p.config.Log.Bounds().Log
	var l Line
	var millis int64
	columns := []any{&l.Seq, &l.Source, &l.Type, &l.Action, &l.Repo, &l.Number, &l.Sender, &millis, &l.Text}
	err = p.query(ctx, columns, func() error {
		l.ID, l.ReceivedAt = event.Cursor{Log: log, Seq: l.Seq}.String(), fromMillis(millis)
		list = append(list, l)
		return nil
	}, "SELECT seq, source, type, action, repo, number, sender, at, text FROM events JOIN places ON places.id = events.place WHERE seq IN ("+
		"SELECT seq FROM events "+index+" WHERE "+strings.Join(where, " AND ")+order+")"+strings.TrimSuffix(order, " LIMIT ?"),
		append(args, q.Limit+1)...)
	if len(list) > q.Limit {
		list, more = list[:q.Limit], true
	}
	return list, more, err
}

// Source is the number of a source's events in the file, and when the last event and the last ping arrived.
type Source struct {
	Name   string    `json:"name"`
	Events int64     `json:"events"`
	Last   time.Time `json:"last,omitzero"`
	Ping   time.Time `json:"last_ping,omitzero"`
}

// Pings returns the last pings of webhooks within a scope, by repository; pings of organizations and Apps have
// the empty repository.
func (p *Projection) Pings(ctx context.Context, scope event.Filter) (map[string]time.Time, error) {
	pings := map[string]time.Time{}
	var repo string
	var ping int64
	err := p.query(ctx, []any{&repo, &ping}, func() error {
		pings[repo] = fromMillis(ping)
		return nil
	}, "SELECT repo, MAX(ping) FROM places WHERE ping > 0 AND "+p.allowed("id", scope)+" GROUP BY repo")
	return pings, err
}

// Sources counts the events within a scope by source.
func (p *Projection) Sources(ctx context.Context, scope event.Filter) (list []Source, err error) {
	list = []Source{}
	var s Source
	var last, ping int64
	err = p.query(ctx, []any{&s.Name, &s.Events, &last, &ping}, func() error {
		s.Last, s.Ping = fromMillis(last), fromMillis(ping)
		list = append(list, s)
		return nil
	}, "SELECT source, SUM(events), MAX(last), MAX(ping) FROM places WHERE "+p.allowed("id", scope)+
		" GROUP BY source ORDER BY source")
	return list, err
}
