package dashboard

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/verdict"
)

//go:embed templates
var templateFiles embed.FS

// templates are the pages by their names, each with the layout around it. They are parsed on first use,
// because parsing takes longer than most commands of the relay.
var templates = sync.OnceValue(func() map[string]*template.Template {
	pages := map[string]*template.Template{}
	for _, name := range []string{"board", "pull", "log", "event", "rules", "rule", "trends", "machines", "health", "signin", "problem"} {
		pages[name] = template.Must(template.New("layout.html").Funcs(functions).ParseFS(templateFiles, "templates/layout.html",
			"templates/parts.html", "templates/"+name+".html"))
	}
	return pages
})

// frame is what every page shows around its content.
type frame struct {
	Title  string
	Nav    string // the entry of the navigation that the page belongs to
	Viewer Viewer
	Open   bool // every process on this machine may read
	SignIn bool // the viewer has not signed in
	Self   string
	Since  time.Time
	AsOf   string
	Now    time.Time
	// Stopped says that the projection has stopped.
	Stopped bool
	// Reviewers says that the relay is configured with the logins whose records count.
	Reviewers bool
	Data      any
}

// show answers with a page. It returns nil, so that a view can end with it.
func (d *Dashboard) show(w http.ResponseWriter, r *http.Request, viewer Viewer, name, nav, title string, data any) error {
	d.showAs(w, r, http.StatusOK, name, frame{Title: title, Nav: nav, Viewer: viewer, Data: data})
	return nil
}

func (d *Dashboard) showAs(w http.ResponseWriter, r *http.Request, status int, name string, f frame) {
	f.Self, f.Now = r.URL.RequestURI(), d.now().UTC()
	f.Since, f.AsOf, f.Open = d.config.Projection.Since(), f.Viewer.asOf, f.Viewer.anonymous() && !f.SignIn
	f.Stopped, f.Reviewers = d.config.Projection.State() != nil, len(d.config.Reviewers) > 0
	part := "layout.html"
	if refreshes(r) {
		part = "refresh"
	}
	var page bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&page, part, f); err != nil {
		zerolog.Ctx(r.Context()).Error().Err(err).Str("page", name).Msg("cannot write a page")
		http.Error(w, "the relay could not write the page; see the relay's log", http.StatusInternalServerError)
		return
	}
	send(w, r, status, "text/html; charset=utf-8", page.Bytes())
}

// Problem answers a request of a viewer with a page that says what is wrong.
func (d *Dashboard) Problem(w http.ResponseWriter, r *http.Request, viewer Viewer, status int, sentence string) {
	d.showAs(w, r, status, "problem", frame{Title: http.StatusText(status), Viewer: viewer, Data: sentence})
}

// failed answers a request that a view could not answer: with a page or, below /api/, with JSON.
func (d *Dashboard) failed(w http.ResponseWriter, r *http.Request, viewer Viewer, err error) {
	api := strings.HasPrefix(r.URL.Path, "/api/")
	unreadable := "The relay cannot read the page's projection of the log now. It tries again by itself; see the relay's log."
	if api {
		unreadable = "the relay cannot read the page's projection of the log now; see the relay's log"
	}
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		log := zerolog.Ctx(r.Context()).With().Str("path", r.URL.Path).Logger()
		d.faults.Answering(log.WithContext(r.Context()), err, "cannot read the page's projection")
		w.Header().Set("Retry-After", "5")
		refused = &refusal{http.StatusServiceUnavailable, unreadable}
	}
	if api {
		refuse(w, r, refused.status, refused.sentence)
	} else {
		d.Problem(w, r, viewer, refused.status, refused.sentence)
	}
}

// SignIn answers with the form for a token, or with the button that redeems a one-time link's code. The text
// problem says why the last attempt failed; empty on the first.
func (d *Dashboard) SignIn(w http.ResponseWriter, r *http.Request, status int, code, to, problem string) {
	w.Header().Set("Cache-Control", "no-store")
	d.showAs(w, r, status, "signin", frame{Title: "Sign in", SignIn: true, Data: struct{ Code, To, Problem string }{code, to, problem}})
}

// boardPage is the content of the board.
type boardPage struct {
	Pulls []projection.Summary
	Turns []turnCount
	// Own are the views of what concerns the viewer; none while the relay does not know the viewer's login.
	Own    []ownView
	Total  int
	Repos  []string
	Query  projection.PullQuery
	Values url.Values
	Next   string
	Prev   string
	// Empty says that the log is empty. Endpoint is where GitHub has to send its webhooks.
	Empty    bool
	Endpoint string
}

// endpoint returns the address to which GitHub sends webhooks. A relay that only this machine can reach does
// not have one yet.
func (d *Dashboard) endpoint(r *http.Request, viewer Viewer) string {
	host, source := r.Host, "github"
	if viewer.anonymous() {
		host = "ADDRESS"
	}
	if len(d.config.Sources) > 0 {
		source = d.config.Sources[0]
	}
	return "https://" + host + "/webhooks/" + source
}

// turnCount is how many pull requests wait for one party.
type turnCount struct {
	Turn verdict.Turn
	N    int
	URL  string
	On   bool
}

// ownView is a view of what concerns the viewer.
type ownView struct {
	Name, URL string
	On        bool
}

func (d *Dashboard) board(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	values := r.URL.Query()
	q, err := pullQuery(values, viewer)
	if err != nil {
		return invalid(err)
	}
	if q.Limit == defaultLimit {
		q.Limit = 50
	}
	pulls, more, err := d.config.Projection.Pulls(r.Context(), q)
	if err != nil {
		return err
	}
	turns, err := d.config.Projection.Turns(r.Context(), q)
	if err != nil {
		return err
	}
	p := boardPage{Pulls: pulls, Repos: d.config.Projection.Repos(viewer.Scope), Query: q, Values: values,
		Empty: d.config.Relay.Head().Seq == 0, Endpoint: d.endpoint(r, viewer)}
	shown := []verdict.Turn{verdict.TurnPerson, verdict.TurnAuthor, verdict.TurnReviewer, verdict.TurnCI}
	if q.State == "closed" {
		shown = nil
	}
	for _, turn := range shown {
		on := q.Turn == turn
		to := string(turn)
		if on {
			to = ""
		}
		p.Turns = append(p.Turns, turnCount{turn, turns[turn], with(values, "turn", to, "page", "", "needs_human", ""), on})
	}
	if len(viewer.logins) > 0 {
		for _, view := range [][2]string{{"Waiting for me", "waiting"}, {"Mine", "author"}} {
			on, to := values.Get(view[1]) == me, me
			if on {
				to = ""
			}
			p.Own = append(p.Own, ownView{view[0], with(values, view[1], to, "page", ""), on})
		}
	}
	for _, n := range turns {
		p.Total += n
	}
	if more {
		p.Next = with(values, "page", page(q, more))
	}
	if q.Offset > 0 {
		p.Prev = with(values, "page", strconv.Itoa(max(0, q.Offset-q.Limit)))
	}
	return d.show(w, r, viewer, "board", "board", "Board", p)
}

// with returns the page's own query with other parameters, given as names and values; an empty value removes
// a parameter.
func with(values url.Values, pairs ...string) string {
	next := maps.Clone(values)
	for i := 0; i+1 < len(pairs); i += 2 {
		if next.Del(pairs[i]); pairs[i+1] != "" {
			next.Set(pairs[i], pairs[i+1])
		}
	}
	maps.DeleteFunc(next, func(_ string, list []string) bool { return len(some(list)) == 0 })
	return "?" + next.Encode()
}

func (d *Dashboard) pull(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	detail, err := d.readPull(r, viewer, "The relay has no events of this pull request. Check the repository and the number.")
	if err != nil {
		return err
	}
	slices.Reverse(detail.Rounds)
	return d.show(w, r, viewer, "pull", "board", fmt.Sprintf("%s#%d %s", detail.Repo, detail.Number, detail.Title), detail)
}

// logPage is the content of the inspector.
type logPage struct {
	Events        []projection.Line
	Values        url.Values
	Sources       []projection.Source
	Older, Newest string
	Endpoint      string
	Empty         bool
}

func (d *Dashboard) log(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	values := r.URL.Query()
	if values.Get("before") == "" {
		values.Set("before", "now")
	}
	values.Del("after")
	q, err := d.eventQuery(values, viewer)
	if err != nil {
		return invalid(err)
	}
	q.Limit = min(q.Limit, 60)
	events, more, err := d.config.Projection.Events(r.Context(), q)
	if err != nil {
		return err
	}
	sources, err := d.config.Projection.Sources(r.Context(), viewer.Scope)
	if err != nil {
		return err
	}
	p := logPage{
		Events: events, Values: values, Sources: sources, Endpoint: d.endpoint(r, viewer), Empty: d.config.Relay.Head().Seq == 0,
	}
	if more {
		p.Older = with(values, "before", events[len(events)-1].ID)
	}
	if values.Get("before") != "now" {
		p.Newest = with(values, "before", "")
	}
	return d.show(w, r, viewer, "log", "log", "Events", p)
}

// eventPage is the content of an event's page.
type eventPage struct {
	Event   event.Event
	Headers []header
	Payload *node
	Raw     string
	Size    int
	URL     string
	// Followers are the subscribers that the event can be sent to again. Redelivers says that GitHub can be
	// asked to send it again. Done says what has just been done.
	Followers  []Follower
	Redelivers bool
	Done       string
}

// done has the sentences that confirm a form's action, by the value of the query parameter done.
var done = map[string]string{
	"sent":  "The event is being sent again to that subscriber.",
	"asked": "GitHub was asked to send the delivery again. The log already has it, so it arrives as a duplicate.",
	"set":   "The settings are saved and were sent to every connected agent.",
}

type header struct{ Name, Value string }

func (d *Dashboard) logEvent(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	e, release, err := d.find(w, r, viewer)
	if err != nil {
		return err
	}
	defer release()
	p := eventPage{Event: e, Size: len(e.Payload), Done: done[r.URL.Query().Get("done")]}
	if !e.IsSettings() {
		p.Followers = d.config.Relay.Followers(viewer)
		p.Redelivers = viewer.Admin && d.config.Relay.Redelivers() && d.config.Projection.FromGitHub(e.Source)
	}
	for name, value := range e.Headers {
		p.Headers = append(p.Headers, header{name, projection.Plain(value, 500)})
	}
	slices.SortFunc(p.Headers, func(a, b header) int { return strings.Compare(a.Name, b.Name) })
	if p.Payload = tree(e.Payload); p.Payload == nil {
		p.Raw = strings.ToValidUTF8(string(e.Payload[:min(len(e.Payload), maxRaw)]), "�")
	}
	scheme := "http://"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https://"
	}
	p.URL = scheme + r.Host + "/api/v1/events/" + e.ID.String()
	return d.show(w, r, viewer, "event", "log", "Event "+e.ID.String(), p)
}

// rulesPage is the content of the rules' page.
type rulesPage struct {
	Rules []projection.Rule
	Max   int
	period
}

// period is what statistics are about, and the addresses of the same in the API.
type period struct {
	projection.RuleQuery
	API, CSV string
	Days     string
	Repos    []string
	// Unknown is the time before which nothing of the period is known; zero if all of it is known.
	Unknown time.Time
}

// choice is an entry of a menu.
type choice struct{ Value, Text string }

var choices = []choice{{"1d", "a day"}, {"7d", "7 days"}, {"30d", "30 days"}, {"90d", "90 days"}, {"365d", "a year"}}

// Choices returns the entries of the menu of periods: the usual ones, and the one in the query.
func (p period) Choices() []choice {
	if slices.ContainsFunc(choices, func(c choice) bool { return c.Value == p.Days }) {
		return choices
	}
	text := p.Days
	if days, ok := strings.CutSuffix(p.Days, "d"); ok {
		text = days + " days"
	}
	return append([]choice{{p.Days, text}}, choices...)
}

// period returns the period that a page is about.
func (d *Dashboard) period(r *http.Request, viewer Viewer, a asked) period {
	api := "/api/v1" + r.URL.Path
	p := period{RuleQuery: a.RuleQuery, API: api + with(a.values), CSV: api + with(a.values, "format", "csv"),
		Days: cmp.Or(a.values.Get("since"), defaultSince), Repos: d.config.Projection.Repos(viewer.Scope)}
	if a.known.After(a.since) {
		p.Unknown = a.known
	}
	return p
}

// readRules reads the rules that a request asks for.
func (d *Dashboard) readRules(r *http.Request, viewer Viewer) (rules []projection.Rule, a asked, err error) {
	if a, err = d.ask(r, viewer, d.config.Projection.RulesSince); err != nil {
		return nil, a, err
	}
	rules, err = d.config.Projection.Rules(r.Context(), a.RuleQuery, a.since)
	return rules, a, err
}

func (d *Dashboard) rules(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	rules, a, err := d.readRules(r, viewer)
	if err != nil {
		return err
	}
	p := rulesPage{Rules: rules, period: d.period(r, viewer, a), Max: 1}
	for _, rule := range rules {
		p.Max = max(p.Max, rule.Findings)
	}
	return d.show(w, r, viewer, "rules", "rules", "Rules", p)
}

// trendsPage is the content of the trends' page.
type trendsPage struct {
	Trends []projection.Trend // newest first
	Sum    projection.Trend
	period
}

// readTrends reads the trends that a request asks for.
func (d *Dashboard) readTrends(r *http.Request, viewer Viewer) (trends []projection.Trend, a asked, err error) {
	if a, err = d.askTrends(r, viewer, d.config.Projection.TrendsSince); err != nil {
		return nil, a, err
	}
	trends, err = d.config.Projection.Trends(r.Context(), viewer.Scope, a.Repo, a.Bucket, a.since, d.now())
	return trends, a, err
}

func (d *Dashboard) trends(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	trends, a, err := d.readTrends(r, viewer)
	if err != nil {
		return err
	}
	p := trendsPage{Sum: projection.Sum(trends), period: d.period(r, viewer, a)}
	slices.Reverse(trends)
	for _, t := range trends {
		if t.Opened+t.Merged+t.Closed+t.Rounds > 0 {
			p.Trends = append(p.Trends, t)
		}
	}
	return d.show(w, r, viewer, "trends", "trends", "Trends", p)
}

func (d *Dashboard) machinesPage(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	return d.show(w, r, viewer, "machines", "machines", "Machines", d.machines.list(d.now(), viewer, d.config.Relay.Head()))
}

// healthOf returns the health of the relay, with that of the projection.
func (d *Dashboard) healthOf(r *http.Request, viewer Viewer) (Health, error) {
	health := d.config.Relay.Health(r.Context(), viewer)
	p := d.config.Projection
	health.KnownSince, health.Projected, health.ProjectionBytes = p.Since(), p.Cursor(), p.Size()
	if err := p.State(); err != nil {
		health.Projection = err.Error()
	}
	var err error
	if health.Sources, err = p.Sources(r.Context(), viewer.Scope); err != nil || len(health.Hooks) == 0 {
		return health, err
	}
	pings, err := p.Pings(r.Context(), viewer.Scope)
	for i := range health.Hooks {
		hook := &health.Hooks[i]
		kind, name, _ := strings.Cut(hook.Target, " ")
		for repo, at := range pings {
			owner, _, _ := strings.Cut(repo, "/")
			if strings.EqualFold(repo, name) || repo == "" && kind != "repository" || kind == "organization" && strings.EqualFold(owner, name) {
				if at.After(hook.Ping) {
					hook.Ping = at
				}
			}
		}
	}
	return health, err
}

func (d *Dashboard) health(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	health, err := d.healthOf(r, viewer)
	if err != nil {
		return err
	}
	return d.show(w, r, viewer, "health", "health", "Health", struct {
		Health
		Done string
	}{health, done[r.URL.Query().Get("done")]})
}
