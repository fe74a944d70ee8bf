package githubsim

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// object is JSON on its way out.
type object = map[string]any

// maxBody bounds a REST or GraphQL request.
const maxBody = 8 << 20

// call is one REST request while it is answered, with the simulator locked.
type call struct {
	sim  *Sim
	ctx  context.Context
	r    *http.Request
	body []byte
	user *account
	repo *repo // of {owner}/{repo}
	pull *pull // of {number}
	link string
}

// reply is an answer: body as JSON, or text, which is a diff, or where to look instead.
type reply struct {
	status   int
	body     any
	text     string
	location string
}

// endpoint answers one route. A *refusal becomes GitHub's error document; any
// other error is the simulator's own failure, a 500.
type endpoint func(c *call) (reply, error)

func ok(body any) (reply, error)      { return reply{status: http.StatusOK, body: body}, nil }
func created(body any) (reply, error) { return reply{status: http.StatusCreated, body: body}, nil }
func noContent() (reply, error)       { return reply{status: http.StatusNoContent}, nil }

// refusal is an error that GitHub would answer.
type refusal struct {
	status  int
	message string
	details any    // the "errors" member, if any
	docs    string // where GitHub explains it, if not at the front door
}

func (e *refusal) Error() string { return e.message }

func refuse(status int, format string, args ...any) error {
	return &refusal{status: status, message: fmt.Sprintf(format, args...)}
}

var errNotFound = refuse(http.StatusNotFound, "Not Found")

// invalid is a 422 that names a field.
func invalid(resource, field, code string) error {
	return unprocessable(object{"resource": resource, "field": field, "code": code})
}

// unprocessable is a 422 with one error document.
func unprocessable(detail object) error {
	return &refusal{status: http.StatusUnprocessableEntity, message: "Validation Failed", details: []object{detail}}
}

// route turns an endpoint into a handler: it finds what the path names, holds
// the lock while the endpoint runs, and writes what it says.
func (s *Sim) route(run endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			writeRefusal(w, refuse(http.StatusRequestEntityTooLarge, "Request body is too large"))
			return
		}
		// GitHub finishes what it has begun, even if the client is gone.
		c := &call{sim: s, ctx: context.WithoutCancel(r.Context()), r: r, body: body, user: signedIn(r)}
		out, err := s.locked(c, run)
		if err != nil {
			writeRefusal(w, err)
			return
		}
		if c.link != "" {
			w.Header().Set("Link", c.link)
		}
		writeReply(w, r, out)
	}
}

func (s *Sim) locked(c *call, run endpoint) (reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name := c.r.PathValue("repo"); name != "" {
		c.repo = s.findRepo(c.r.PathValue("owner"), name)
		if c.repo == nil {
			return c.elsewhere()
		}
		if err := c.needSight(); err != nil {
			return reply{}, err
		}
	}
	if text := c.r.PathValue("number"); text != "" {
		var err error
		if c.pull, err = c.findPull(text); err != nil {
			return reply{}, err
		}
	}
	out, err := run(c)
	if err != nil {
		return reply{}, err
	}
	if c.repo != nil && c.r.Method != http.MethodGet {
		c.sim.autoMerges(c.repo)
	}
	// Rendered while locked: the body may share memory with the state.
	if out.body != nil {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(out.body); err != nil {
			return reply{}, err
		}
		out.text = text.String()
	}
	return out, nil
}

// needSight refuses callers to whom the repository is not shown, and tokens of an installation that are not for
// it. An app itself is shown the installation alone.
func (c *call) needSight() error {
	covered := granted(c.r).covers(c.repo)
	switch {
	case signedByKey(c.r) && strings.HasSuffix(c.r.URL.Path, "/installation"):
		return nil
	case signedByKey(c.r):
		return refuse(http.StatusForbidden, "Resource not accessible by integration")
	case c.repo.permission(c.user) == "none", c.repo.private && !covered:
		return errNotFound
	case c.r.Method != http.MethodGet && !covered:
		return refuse(http.StatusForbidden, "Resource not accessible by integration")
	}
	return nil
}

func (c *call) findPull(number string) (*pull, error) {
	n, err := strconv.Atoi(number)
	if p := c.repo.pulls[n]; err == nil && p != nil {
		return p, nil
	}
	return nil, errNotFound
}

func writeReply(w http.ResponseWriter, r *http.Request, out reply) {
	switch {
	case out.body != nil:
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	case out.text != "":
		w.Header().Set("Content-Type", "application/vnd.github.diff; charset=utf-8")
	case out.location != "":
		w.Header().Set("Location", out.location)
	}
	if r.Method == http.MethodGet && out.status == http.StatusOK {
		etag := fmt.Sprintf(`W/"%x"`, sha256.Sum256([]byte(out.text)))
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.WriteHeader(out.status)
	io.WriteString(w, out.text)
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

// decode reads the request's JSON. Unknown members are allowed, as on GitHub.
func (c *call) decode(v any) error {
	if len(bytes.TrimSpace(c.body)) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, v); err != nil {
		return refuse(http.StatusBadRequest, "Problems parsing JSON")
	}
	return nil
}

// id reads a path value that holds an id; nothing is found for a malformed one.
func (c *call) id(name string) int64 {
	id, err := strconv.ParseInt(c.r.PathValue(name), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// needWrite refuses callers without write access, with 404 as GitHub does for
// what a token may not touch, or 403 when it may at least look.
func (c *call) needWrite() error {
	if c.repo.canWrite(c.user) {
		return nil
	}
	return refuse(http.StatusForbidden, "Must have write access to %s.", c.repo.fullName())
}

// needTriage refuses callers who may not label.
// https://docs.github.com/en/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
func (c *call) needTriage() error {
	if c.repo.archived || !c.repo.atLeast(c.user, "triage") {
		return refuse(http.StatusForbidden, "Must have triage access to %s.", c.repo.fullName())
	}
	return nil
}

// page cuts one page out of items and leaves the Link header for the others.
func page[T any](c *call, items []T) []T {
	query := c.r.URL.Query()
	size, number := atLeast(query.Get("per_page"), 30), atLeast(query.Get("page"), 1)
	size = min(size, 100)
	last := max(1, (len(items)+size-1)/size)
	var links []string
	link := func(page int, rel string) {
		u := url.URL{Path: c.r.URL.Path}
		query.Set("page", strconv.Itoa(page))
		u.RawQuery = query.Encode()
		links = append(links, fmt.Sprintf(`<%s%s>; rel="%s"`, c.sim.url, u.String(), rel))
	}
	if number > 1 {
		link(number-1, "prev")
		link(1, "first")
	}
	if number < last {
		link(number+1, "next")
		link(last, "last")
	}
	c.link = strings.Join(links, ", ")
	from := min((number-1)*size, len(items))
	return items[from:min(from+size, len(items))]
}

// atLeast reads a positive number, or falls back.
func atLeast(text string, fallback int) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 1<<20 {
		return n
	}
	return fallback
}

// each renders a list; it is never JSON's null.
func each[T any](items []T, render func(T) object) []object {
	out := make([]object, 0, len(items))
	for _, item := range items {
		out = append(out, render(item))
	}
	return out
}

// stamp is a time in GitHub's format, or null.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format(time.RFC3339)
}

// orNull is text, or null when there is none.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
