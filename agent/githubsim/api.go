package githubsim

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"touchstone/worktree/steps"
)

// object is a JSON object of a response.
type object = map[string]any

// maxBody limits a REST or GraphQL request, in bytes.
const maxBody = 8 << 20

// call is one REST request that is being answered, while the simulator is locked.
type call struct {
	caller
	sim   *Sim
	ctx   context.Context
	r     *http.Request
	body  []byte
	repo  *repo // of {owner}/{repo}
	pull  *pull // of {number}
	links []string
}

// reply is a response: body as JSON, or location for a redirect.
type reply struct {
	status   int
	body     any
	encoded  []byte // body, once the endpoint has run
	location string
}

// endpoint answers one route, as a row of steps. If one fails with a *refusal, the answer is GitHub's error document; any
// other error is the simulator's own failure, a 500.
type endpoint func(c *call) reply

func ok(body any) reply      { return reply{status: http.StatusOK, body: body} }
func created(body any) reply { return reply{status: http.StatusCreated, body: body} }
func noContent() reply       { return reply{status: http.StatusNoContent} }

// fail ends an endpoint with an error.
func fail(err error) reply {
	steps.Must(err)
	return reply{}
}

// refusal is an error that GitHub would respond with.
type refusal struct {
	status  int
	message string
	details any    // the "errors" member, if any
	docs    string // GitHub's documentation of it; empty for the start page
}

func (e *refusal) Error() string { return e.message }

func refuse(status int, format string, args ...any) error {
	return &refusal{status: status, message: fmt.Sprintf(format, args...)}
}

var (
	errNotFound      = refuse(http.StatusNotFound, "Not Found")
	errNotAccessible = refuse(http.StatusForbidden, "Resource not accessible by integration")
)

// invalid returns a 422 that names a field.
func invalid(resource, field, code string) error {
	return unprocessable(object{"resource": resource, "field": field, "code": code})
}

// unprocessable returns a 422 with one error document.
func unprocessable(detail object) error {
	return &refusal{status: http.StatusUnprocessableEntity, message: "Validation Failed", details: []object{detail}}
}

// route turns an endpoint into a handler: it finds what the path names, holds the lock while the endpoint runs,
// and writes the response.
func (s *Sim) route(run endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			writeRefusal(w, refuse(http.StatusRequestEntityTooLarge, "Request body is too large"))
			return
		}
		// GitHub finishes a request that it has begun, even if the client is gone.
		c := &call{sim: s, ctx: context.WithoutCancel(r.Context()), r: r, body: body, caller: callerOf(r)}
		var out reply
		if err := steps.Try(func() { out = s.locked(c, run) }); err != nil {
			writeRefusal(w, err)
			return
		}
		if len(c.links) > 0 {
			w.Header().Set("Link", strings.Join(c.links, ", "))
		}
		writeReply(w, out)
	}
}

func (s *Sim) locked(c *call, run endpoint) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name := c.r.PathValue("repo"); name != "" {
		c.repo = s.findRepo(c.r.PathValue("owner") + "/" + name)
		if c.repo == nil {
			return c.elsewhere()
		}
		c.needSight()
	}
	if text := c.r.PathValue("number"); text != "" {
		c.pull = must(c.repo.pulls[atLeast(text, 0)], errNotFound)
	}
	out := run(c)
	if c.repo != nil && c.r.Method != http.MethodGet {
		c.sim.autoMerges(c.repo)
	}
	// Encode the body while locked: it may share memory with the state.
	if out.body != nil {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		steps.Must(enc.Encode(out.body))
		out.encoded = text.Bytes()
	}
	return out
}

// needSight refuses callers that may not see the repository, and installations' tokens that do not cover it. An
// app itself sees only its installation.
func (c *call) needSight() {
	covered := c.given.covers(c.repo)
	switch {
	case c.byKey:
		if !strings.HasSuffix(c.r.URL.Path, "/installation") {
			fail(errNotAccessible)
		}
	case c.repo.permission(c.user) == "none", c.repo.Private && !covered:
		fail(errNotFound)
	case c.r.Method != http.MethodGet && !covered:
		fail(errNotAccessible)
	}
}

func writeReply(w http.ResponseWriter, out reply) {
	switch {
	case out.body != nil:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	case out.location != "":
		w.Header().Set("Location", out.location)
	}
	w.WriteHeader(out.status)
	w.Write(out.encoded)
}

func writeRefusal(w http.ResponseWriter, err error) {
	var refused *refusal
	if !errors.As(err, &refused) {
		refused = &refusal{status: http.StatusInternalServerError, message: "githubsim: " + err.Error()}
	}
	doc := object{
		"message": refused.message, "status": strconv.Itoa(refused.status),
		"documentation_url": cmp.Or(refused.docs, "https://docs.github.com/rest"),
	}
	if refused.details != nil {
		doc["errors"] = refused.details
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(refused.status)
	json.NewEncoder(w).Encode(doc)
}

// decode decodes the request's JSON, as a step. Unknown members are allowed, as on GitHub.
func (c *call) decode(v any) {
	if len(bytes.TrimSpace(c.body)) > 0 && json.Unmarshal(c.body, v) != nil {
		fail(refuse(http.StatusBadRequest, "Problems parsing JSON"))
	}
}

// idOf parses an id; 0, which matches nothing, if it is malformed.
func idOf(text string) int64 {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// id returns the id in a path value.
func (c *call) id(name string) int64 { return idOf(c.r.PathValue(name)) }

// needWrite refuses callers without write access. They can see the repository (see needSight), so it answers 403
// and not 404.
func (c *call) needWrite() {
	if !c.repo.canWrite(c.user) {
		fail(refuse(http.StatusForbidden, "Must have write access to %s.", c.repo.fullName()))
	}
}

// needWriteUnless is needWrite for what its author may do too.
func (c *call) needWriteUnless(author *account) {
	if c.user != author {
		c.needWrite()
	}
}

// needTriage refuses callers who may not change labels.
// https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
func (c *call) needTriage() {
	if !c.repo.atLeast(c.user, "triage") {
		fail(refuse(http.StatusForbidden, "Must have triage access to %s.", c.repo.fullName()))
	}
}

// page returns the requested page of items, and prepares the Link header for the others.
func page[T any](c *call, items []T) []T {
	size, number := c.pageSize(), atLeast(c.r.URL.Query().Get("page"), 1)
	last := max(1, (len(items)+size-1)/size)
	if number > 1 {
		c.linkTo("prev", "page", strconv.Itoa(number-1))
		c.linkTo("first", "page", "1")
	}
	if number < last {
		c.linkTo("next", "page", strconv.Itoa(number+1))
		c.linkTo("last", "page", strconv.Itoa(last))
	}
	from := min((number-1)*size, len(items))
	return items[from:min(from+size, len(items))]
}

// firstPage is page for a list that is paged by a cursor, and begins after it: the Link header leads to the items
// after the last one.
func firstPage[T any](c *call, items []T, parameter string, cursor func(T) string) []T {
	size := c.pageSize()
	if len(items) <= size {
		return items
	}
	c.linkTo("next", parameter, cursor(items[size-1]))
	return items[:size]
}

func (c *call) pageSize() int { return min(atLeast(c.r.URL.Query().Get("per_page"), 30), 100) }

// linkTo adds a page of the list to the Link header, by the parameter that leads to it.
func (c *call) linkTo(rel, parameter, value string) {
	query := c.r.URL.Query()
	query.Set(parameter, value)
	u := url.URL{Path: c.r.URL.Path, RawQuery: query.Encode()}
	c.links = append(c.links, fmt.Sprintf(`<%s%s>; rel="%s"`, c.sim.url, u.String(), rel))
}

// absolute reports whether an address names a host.
func absolute(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != ""
}

// atLeast parses a positive number, or returns fallback.
func atLeast(text string, fallback int) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 1<<20 {
		return n
	}
	return fallback
}

// each renders a list; the result is never JSON's null.
func each[T, R any](items []T, render func(T) R) []R {
	out := make([]R, 0, len(items))
	for _, item := range items {
		out = append(out, render(item))
	}
	return out
}

// stamp returns a time in GitHub's format; null for the zero time.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format(time.RFC3339)
}

// orNull returns a value; null for the zero value.
func orNull[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}
