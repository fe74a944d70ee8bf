package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/verdict"
)

// Bounds of a list's pages.
const (
	defaultLimit = 100
	maxLimit     = 500
	maxOffset    = 1_000_000
)

// defaultSince is how far back statistics go if a request does not say it.
const defaultSince = "30d"

// pullQuery reads the parameters of a list of pull requests. The error is a sentence.
func pullQuery(values url.Values, viewer Viewer) (q projection.PullQuery, err error) {
	q = projection.PullQuery{
		Scope: viewer.Scope, Repo: values.Get("repo"), State: values.Get("state"), Turn: verdict.Turn(values.Get("turn")), Limit: defaultLimit,
	}
	for name, to := range map[string]*[]string{"author": &q.Author, "waiting": &q.Waiting} {
		if *to, err = logins(values.Get(name), viewer); err != nil {
			return q, err
		}
	}
	switch q.State {
	case "", "open", "closed", "all":
	default:
		return q, fmt.Errorf("state must be open, closed or all, not %.40q", q.State)
	}
	switch q.Turn {
	case "", verdict.TurnReviewer, verdict.TurnAuthor, verdict.TurnCI, verdict.TurnPerson, verdict.TurnNobody:
	default:
		return q, fmt.Errorf("turn must be reviewer, author, ci, person or nobody, not %.40q", q.Turn)
	}
	if text := values.Get("needs_human"); text != "" {
		needs, err := strconv.ParseBool(text)
		switch {
		case err != nil:
			return q, fmt.Errorf("needs_human must be true or false, not %.40q", text)
		case needs && q.Turn != "" && q.Turn != verdict.TurnPerson:
			return q, fmt.Errorf("needs_human=true requires turn=person, not %s", q.Turn)
		case needs:
			q.Turn = verdict.TurnPerson
		default:
			q.NotPerson = true
		}
	}
	if err := validRepo(q.Repo); err != nil {
		return q, err
	}
	for _, field := range projection.Moments {
		if text := values.Get(string(field)); text != "" {
			from, to, ok := strings.Cut(text, "..")
			q.Moment = field
			var errFrom, errTo error
			q.From, errFrom = time.Parse(time.DateOnly, from)
			q.To, errTo = time.Parse(time.DateOnly, to)
			if !ok || errFrom != nil || errTo != nil {
				return q, fmt.Errorf("%s must be two days, such as 2026-11-01..2026-11-08; the second day is not included", field)
			}
		}
	}
	if q.Limit, err = limit(values); err != nil {
		return q, err
	}
	if text := values.Get("page"); text != "" {
		if q.Offset, err = strconv.Atoi(text); err != nil || q.Offset < 0 || q.Offset > maxOffset {
			return q, fmt.Errorf("page must be the value of next in an earlier answer, not %.40q", text)
		}
	}
	return q, nil
}

// me stands for the viewer's own logins.
const me = "@me"

// logins returns the logins that a parameter names; none if it is empty. The error is a sentence.
func logins(text string, viewer Viewer) ([]string, error) {
	switch text {
	case "":
		return nil, nil
	case me:
		if len(viewer.logins) == 0 {
			return nil, errors.New("the relay does not know your login, because no agent has connected with your access token yet; " +
				"write the login instead of @me")
		}
		return viewer.logins, nil
	}
	return []string{text}, nil
}

func validRepo(repo string) error {
	if repo == "" {
		return nil
	}
	return event.Filter{Repos: []string{repo}}.Validate()
}

func limit(values url.Values) (int, error) {
	text := values.Get("limit")
	if text == "" {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxLimit {
		return 0, fmt.Errorf("limit must be 1 to %d, not %.40q", maxLimit, text)
	}
	return n, nil
}

// page returns the token of the next page; empty if there is none.
func page(q projection.PullQuery, more bool) string {
	if !more {
		return ""
	}
	return strconv.Itoa(q.Offset + q.Limit)
}

func (d *Dashboard) apiPulls(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	q, err := pullQuery(r.URL.Query(), viewer)
	if err != nil {
		return invalid(err)
	}
	pulls, more, err := d.config.Projection.Pulls(r.Context(), q)
	if err != nil {
		return err
	}
	return reply(w, r, http.StatusOK, struct {
		Pulls []projection.Summary `json:"pulls"`
		listed
	}{pulls, d.listed(viewer, page(q, more))})
}

// listed are the fields that every list has.
type listed struct {
	AsOf       string    `json:"as_of"`
	Next       string    `json:"next"`
	KnownSince time.Time `json:"known_since,omitzero"`
}

func (d *Dashboard) listed(viewer Viewer, next string) listed {
	return listed{viewer.asOf, next, d.config.Projection.Since()}
}

// readPull reads the pull request that a path names. The sentence unknown says that there is none, or that the viewer may not
// see it.
func (d *Dashboard) readPull(r *http.Request, viewer Viewer, unknown string) (projection.Detail, error) {
	number, _ := strconv.Atoi(r.PathValue("number")) // no pull request has the number of what is none
	detail, known, err := d.config.Projection.Pull(r.Context(), viewer.Scope, r.PathValue("owner")+"/"+r.PathValue("repo"), number)
	if err == nil && !known {
		err = &refusal{http.StatusNotFound, unknown}
	}
	return detail, err
}

func (d *Dashboard) apiPull(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	detail, err := d.readPull(r, viewer, "the relay has no events of this pull request; check the repository and the number")
	if err != nil {
		return err
	}
	return reply(w, r, http.StatusOK, struct {
		projection.Detail
		AsOf string `json:"as_of"`
	}{detail, viewer.asOf})
}

// eventQuery reads the parameters of a list of events. The error is a sentence.
func (d *Dashboard) eventQuery(values url.Values, viewer Viewer) (q projection.EventQuery, err error) {
	q = projection.EventQuery{Scope: viewer.Scope,
		Filter: event.Filter{Sources: some(values["source"]), Types: some(values["type"]), Repos: some(values["repo"])}}
	if err := q.Filter.Validate(); err != nil {
		return q, err
	}
	if text := values.Get("number"); text != "" {
		if q.Number, err = strconv.Atoi(text); err != nil || q.Number < 1 {
			return q, fmt.Errorf("number must be that of a pull request or an issue, not %.40q", text)
		}
	}
	for name, to := range map[string]*int64{"after": &q.After, "before": &q.Before} {
		switch text := values.Get(name); text {
		case "", "oldest":
		case "now":
			*to = d.config.Relay.Head().Seq + 1
		default:
			cursor, err := event.ParseCursor(text)
			if err != nil {
				return q, err
			}
			if cursor.Log != d.config.Relay.Head().Log {
				return q, fmt.Errorf("%s is a cursor of another log; this relay's log is %s", text, d.config.Relay.Head().Log)
			}
			*to = cursor.Seq
		}
	}
	q.Limit, err = limit(values)
	return q, err
}

// some returns the values that are not empty: a form sends its empty fields too.
func some(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
}

func (d *Dashboard) apiEvents(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	q, err := d.eventQuery(r.URL.Query(), viewer)
	if err != nil {
		return invalid(err)
	}
	events, more, err := d.config.Projection.Events(r.Context(), q)
	if err != nil {
		return err
	}
	next := ""
	if more {
		next = events[len(events)-1].ID
	}
	return reply(w, r, http.StatusOK, struct {
		Events []projection.Line `json:"events"`
		listed
	}{events, d.listed(viewer, next)})
}

// find returns the event that a path names, if the viewer may see it. The caller calls release once it has answered.
func (d *Dashboard) find(w http.ResponseWriter, r *http.Request, viewer Viewer) (e event.Event, release func(), err error) {
	cursor, err := event.ParseCursor(r.PathValue("cursor"))
	if err != nil {
		return e, nil, invalid(err)
	}
	switch e, release, err = d.config.Relay.Event(w, r, viewer, cursor); {
	case err == nil:
		return e, release, nil
	case errors.Is(err, ErrNoEvent):
		return e, nil, &refusal{http.StatusNotFound, err.Error()}
	case errors.Is(err, ErrNoRoom):
		w.Header().Set("Retry-After", "5")
		return e, nil, &refusal{http.StatusTooManyRequests, err.Error() + "; try again"}
	}
	d.faults.Answering(r.Context(), err, "cannot read an event")
	return e, nil, &refusal{http.StatusServiceUnavailable, "the relay cannot read the event; see the relay's log"}
}

func (d *Dashboard) apiEvent(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	e, release, err := d.find(w, r, viewer)
	if err != nil {
		return err
	}
	defer release()
	text, err := e.AppendJSON(nil)
	if err != nil {
		return err
	}
	send(w, r, http.StatusOK, "application/json", text)
	return nil
}

// sendTable answers with a table as CSV.
func sendTable(w http.ResponseWriter, r *http.Request, name string, rows [][]string) error {
	var text bytes.Buffer
	_ = csv.NewWriter(&text).WriteAll(rows) // to memory, which never fails
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	send(w, r, http.StatusOK, "text/csv; charset=utf-8", text.Bytes())
	return nil
}

// asked is what a request asks statistics about. Only requests about one rule set Rule, Model and Guidelines, only those for
// trends Bucket.
type asked struct {
	projection.RuleQuery
	values url.Values
	since  time.Time
	known  time.Time // from when on there are these statistics, which outlive the log
}

// csv reports whether the answer is to be a table.
func (a asked) csv() bool { return a.values.Get("format") == "csv" }

// listed returns the fields of a list of statistics.
func (a asked) listed(viewer Viewer) listed { return listed{AsOf: viewer.asOf, KnownSince: a.known} }

// ask reads the parameters that all statistics have, and since when there are such statistics.
func (d *Dashboard) ask(r *http.Request, viewer Viewer, known func(context.Context) (time.Time, error)) (a asked, err error) {
	a.values = r.URL.Query()
	a.Scope, a.Repo = viewer.Scope, a.values.Get("repo")
	if a.since, err = d.since(a.values); err == nil {
		err = validRepo(a.Repo)
	}
	if err != nil {
		return a, invalid(err)
	}
	a.known, err = known(r.Context())
	return a, err
}

// askTrends is ask for trends, which are by day or by week.
func (d *Dashboard) askTrends(r *http.Request, viewer Viewer, known func(context.Context) (time.Time, error)) (asked, error) {
	a, err := d.ask(r, viewer, known)
	if err != nil {
		return a, err
	}
	a.Bucket = cmp.Or(projection.Bucket(a.values.Get("bucket")), projection.Day)
	if a.Bucket != projection.Day && a.Bucket != projection.Week {
		return a, invalid(fmt.Errorf("bucket must be day or week, not %.40q", a.Bucket))
	}
	return a, nil
}

// since reads how far back statistics go. The error is a sentence.
func (d *Dashboard) since(values url.Values) (time.Time, error) {
	text := cmp.Or(values.Get("since"), defaultSince)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 3650 {
			return d.now().UTC().AddDate(0, 0, -n), nil
		}
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("since must be a number of days such as 30d, or a day such as 2026-11-01, not %.40q", text)
}

func (d *Dashboard) apiRules(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	rules, a, err := d.readRules(r, viewer)
	if err != nil {
		return err
	}
	return reply(w, r, http.StatusOK, struct {
		Rules []projection.Rule `json:"rules"`
		Since time.Time         `json:"since"`
		listed
	}{rules, a.since, a.listed(viewer)})
}

func (d *Dashboard) apiTrends(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	trends, a, err := d.readTrends(r, viewer)
	switch {
	case err != nil:
		return err
	case a.csv():
		return sendTable(w, r, "trends", trendsTable(trends))
	}
	return reply(w, r, http.StatusOK, struct {
		Buckets []projection.Trend `json:"buckets"`
		Bucket  projection.Bucket  `json:"bucket"`
		listed
	}{trends, a.Bucket, a.listed(viewer)})
}

func trendsTable(trends []projection.Trend) [][]string {
	rows := [][]string{{
		"start", "opened", "merged", "closed", "rounds", "findings", "cost_usd", "tokens", "escalations", "merged_without_person",
		"first_review_p50_seconds", "first_review_p90_seconds", "merge_p50_seconds", "merge_p90_seconds", "rounds_per_merge",
		"cost_usd_per_merge",
	}}
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	of := func(q *projection.Quantiles) (string, string) {
		if q == nil {
			return "", ""
		}
		return number(q.P50), number(q.P90)
	}
	for _, t := range trends {
		review50, review90 := of(t.FirstReview)
		merge50, merge90 := of(t.Merge)
		rows = append(rows, []string{
			t.Start.Format(time.DateOnly), strconv.Itoa(t.Opened), strconv.Itoa(t.Merged), strconv.Itoa(t.Closed), strconv.Itoa(t.Rounds),
			strconv.Itoa(t.Findings),
			number(t.CostUSD), strconv.FormatInt(t.Tokens, 10), strconv.Itoa(t.Escalations), strconv.Itoa(t.Unattended),
			review50, review90, merge50, merge90, number(t.RoundsPerMerge), number(t.CostPerMerge),
		})
	}
	return rows
}

func (d *Dashboard) apiMachines(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	return reply(w, r, http.StatusOK, struct {
		Machines []Machine `json:"machines"`
		listed
	}{d.machines.list(d.now(), viewer, d.config.Relay.Head()), d.listed(viewer, "")})
}

func (d *Dashboard) apiHealth(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	health, err := d.healthOf(r, viewer)
	if err != nil {
		return err
	}
	return reply(w, r, http.StatusOK, health)
}

func (d *Dashboard) apiUnknown(http.ResponseWriter, *http.Request, Viewer) error {
	return &refusal{http.StatusNotFound, "the relay has no such path; its README lists the API's"}
}
