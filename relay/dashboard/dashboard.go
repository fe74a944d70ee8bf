// Package dashboard owns the relay's page and its API below /api/v1: the view that people and programs have
// of pull requests, rules, machines and the relay itself. It reads the projection of the log, and the reports
// of agents, which are all that it keeps, in memory. Open pages are notified of changes, and request their
// content again. The server decides before who the viewer is and what they may see; every answer is limited
// to that.
package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/relay/internal/faults"
)

// Viewer is the person or program that asks, and what they may see.
type Viewer struct {
	// Token is the id of the viewer's token; empty if none is required.
	Token string
	// Name is the token's name, for people.
	Name string
	// Scope limits everything that the viewer sees.
	Scope event.Filter
	// Admin says that the viewer may see the relay itself, and change it.
	Admin bool

	logins []string // the logins of the viewer's own agents
	asOf   string   // the position in the log that the answer includes at least
}

// anonymous reports whether every process on this machine may read.
func (v Viewer) anonymous() bool { return v.Token == "" }

// Relay is what the dashboard needs of the relay.
type Relay interface {
	// Event reads one event of the log for the answer w to a request of a viewer, who may see settings and what is within
	// their scope. The event counts against the relay's memory until the caller calls release; if others need the room, w is
	// cut. The error is ErrNoEvent if the log does not hold the event, or the viewer may not see it, ErrNoRoom if there is no
	// room for it; then, as with any error, release is nil.
	Event(w http.ResponseWriter, r *http.Request, viewer Viewer, at event.Cursor) (e event.Event, release func(), err error)
	// Health returns the state of the relay, as far as the viewer may know it, and as far as it can be read.
	Health(ctx context.Context, viewer Viewer) Health
	// Head returns the end of the log.
	Head() event.Cursor
	// Followers returns the open streams of the viewer's token.
	Followers(viewer Viewer) []Follower
	// Redelivers reports whether the relay can ask GitHub to send a delivery again.
	Redelivers() bool
}

// Errors of Relay.Event.
var (
	ErrNoEvent = errors.New("event not found: retention may have removed it")
	ErrNoRoom  = errors.New("too many large events are being read at once")
)

// Follower is an open stream.
type Follower struct {
	ID string
	// Remote is the subscriber's address, Agent its User-Agent.
	Remote, Agent string
	Since         time.Time
}

// Config is what a dashboard needs.
type Config struct {
	Projection *projection.Projection
	Relay      Relay
	// Reviewers are the logins whose records count.
	Reviewers []string
	// Sources are the endpoints for GitHub's webhooks.
	Sources []string
}

// Dashboard answers the requests for the page and the API.
type Dashboard struct {
	// Pages and API answer the requests of browsers and of programs, by their patterns for http.ServeMux.
	Pages, API map[string]Handler

	config   Config
	machines machines
	changes  changes
	shared   shared
	faults   faults.Log
	now      func() time.Time
}

// Handler answers a request of a viewer.
type Handler func(w http.ResponseWriter, r *http.Request, viewer Viewer)

// New creates a dashboard. Its pages are live while Run runs.
func New(config Config) *Dashboard {
	d := &Dashboard{config: config, now: time.Now,
		machines: machines{known: map[machineKey]Machine{}, said: map[machineKey]string{}},
		changes:  changes{scopes: map[string]*scopeChanges{}}, shared: shared{answers: map[string]sharedAnswer{}}}
	d.Pages = d.handlers(map[string]view{
		"GET /{$}":                           d.share(d.board),
		"GET /pulls/{owner}/{repo}/{number}": d.share(d.pull),
		"GET /log":                           d.share(d.log),
		"GET /log/{cursor}":                  d.logEvent,
		"GET /rules":                         d.share(d.rules),
		"GET /rules/{rule...}":               d.share(d.rule),
		"GET /trends":                        d.share(d.trends),
		"GET /machines":                      d.machinesPage,
		"GET /health":                        d.health,
	})
	d.API = d.handlers(map[string]view{
		"GET /api/v1/pulls":                         d.apiPulls,
		"GET /api/v1/pulls/{owner}/{repo}/{number}": d.apiPull,
		"GET /api/v1/events":                        d.apiEvents,
		"GET /api/v1/events/{cursor}":               d.apiEvent,
		"GET /api/v1/rules":                         d.apiRules,
		"GET /api/v1/rules/{rule...}":               d.apiRule,
		"GET /api/v1/trends":                        d.apiTrends,
		"GET /api/v1/machines":                      d.apiMachines,
		"GET /api/v1/health":                        d.apiHealth,
		"PUT /api/v1/machines/self":                 d.putMachine,
		"GET /api/v1/":                              d.apiUnknown,
	})
	return d
}

// freshness is how long a request waits at most until the projection includes what the answer has to show.
const freshness = 500 * time.Millisecond

// handlers returns the handlers that answer by the views.
func (d *Dashboard) handlers(views map[string]view) map[string]Handler {
	all := map[string]Handler{}
	for pattern, page := range views {
		all[pattern] = func(w http.ResponseWriter, r *http.Request, viewer Viewer) {
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				wait, cancel := context.WithTimeout(r.Context(), freshness)
				d.config.Projection.Reach(wait, d.wanted(r))
				cancel()
			}
			viewer.logins, viewer.asOf = d.machines.logins(viewer.Token), d.config.Projection.Cursor()
			d.respond(w, r, viewer, page)
		}
	}
	return all
}

// view answers a request of a viewer, or returns why it cannot: a refusal, or that the projection could not be read.
type view func(w http.ResponseWriter, r *http.Request, viewer Viewer) error

// refusal says what is wrong with a request.
type refusal struct {
	status   int
	sentence string
}

// Error implements error.
func (r *refusal) Error() string { return r.sentence }

// invalid refuses a request whose parameters are wrong; err is a sentence.
func invalid(err error) error { return &refusal{http.StatusBadRequest, err.Error()} }

// respond answers a request of a viewer by a view.
func (d *Dashboard) respond(w http.ResponseWriter, r *http.Request, viewer Viewer, page view) {
	if err := page(w, r, viewer); err != nil {
		d.failed(w, r, viewer, err)
	}
}

// reply answers with JSON.
func reply(w http.ResponseWriter, r *http.Request, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return &refusal{http.StatusInternalServerError, "the relay could not write the answer"}
	}
	send(w, r, status, "application/json", append(text, '\n'))
	return nil
}

// refuse answers with a sentence that says what is wrong.
func refuse(w http.ResponseWriter, r *http.Request, status int, sentence string) {
	_ = reply(w, r, status, map[string]string{"error": sentence}) // strings can be written
}
