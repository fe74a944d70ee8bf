// Package contract checks a simulated GitHub against what GitHub publishes about itself: every REST request and
// response against its OpenAPI description, every GraphQL request and response against its schema, every
// webhook against its schema.
//
// It is a gate for tests: a violation fails the test, whether the simulator answered wrongly or the product
// asked wrongly. It owns the short list of GitHub's undescribed behaviour (see allowed).
package contract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"touchstone/agent/githubsim/spec"
)

// T is the part of a test that the gate reports to.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Wrap passes requests on to next, and reports to t every violation of the contract in a request or a response.
// It does not check git's own protocol and /_sim/. The server must be closed before the test ends.
func Wrap(t T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(strings.TrimPrefix(r.URL.EscapedPath(), "/api/v3"), "/api")
		described := strings.HasPrefix(path, "/repos/") || strings.HasPrefix(path, "/orgs/") || strings.HasPrefix(path, "/app/") ||
			strings.HasPrefix(path, "/app-manifests/")
		if strings.HasPrefix(path, "/_sim/") || !described && strings.Count(path, "/") > 2 {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client gave up, as a stopped client does
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		seen := &tee{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(seen, r)
		check := checkREST
		if path == "/graphql" {
			check = checkGraphQL
		}
		x := exchange{r, path, body, seen.status, w.Header(), seen.body.Bytes()}
		key := x.key()
		if _, ok := kept.Load(key); ok {
			return
		}
		if err := check(x); err != nil {
			t.Helper()
			t.Errorf("contract: %s %s answered %d: %v", r.Method, path, seen.status, err)
			return
		}
		kept.Store(key, true)
	})
}

// kept are the keys of exchanges that fulfil the contract: a client that polls makes the same exchange many
// times.
var kept sync.Map

// key returns the same value for all exchanges that the checks treat alike.
func (x exchange) key() [sha256.Size]byte {
	sum := sha256.New()
	for _, part := range []any{x.r.Method, x.path, x.r.URL.RawQuery, x.r.Header.Get("Content-Type"), x.r.Header.Get("If-None-Match"), x.status,
		x.header.Get("Content-Type"), x.header.Get("Location"), x.header.Get("Link"), x.request, x.response} {
		fmt.Fprintf(sum, "%q\n", part)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// exchange is one request and its answer.
type exchange struct {
	r        *http.Request
	path     string
	request  []byte
	status   int
	header   http.Header
	response []byte
}

// tee keeps a copy of the response that it passes on.
type tee struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (w *tee) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *tee) Write(p []byte) (int, error) {
	w.body.Write(p)
	return w.ResponseWriter.Write(p)
}

var restRouter = sync.OnceValues(func() (routers.Router, error) {
	doc, err := load(spec.OpenAPI)
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

func load(read func() ([]byte, error)) (*openapi3.T, error) {
	text, err := read()
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
}

var byNumber = regexp.MustCompile(`^/repositories/[0-9]+`)

func checkREST(x exchange) error {
	router, err := restRouter()
	if err != nil {
		return err
	}
	plain := x.r.Clone(context.Background())
	// GitHub's redirects name a repository by its number, which GitHub's description leaves out.
	if plain.URL, err = url.Parse(byNumber.ReplaceAllString(x.path, "/repos/owner/name")); err != nil {
		return err
	}
	plain.URL.RawQuery, plain.Body = x.r.URL.RawQuery, io.NopCloser(bytes.NewReader(x.request))
	route, params, err := router.FindRoute(plain)
	if err != nil {
		return fmt.Errorf("GitHub's description, as trimmed here, has no such operation: %w", err)
	}
	options := &openapi3filter.Options{
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, MultiError: true,
	}
	options.WithCustomSchemaErrorFunc(brief)
	input := &openapi3filter.RequestValidationInput{Request: plain, PathParams: params, Route: route, Options: options}
	if err := checkRequest(x, input); err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	if allowed(x) {
		return nil
	}
	if strings.Contains(x.header.Get("Content-Type"), "diff") {
		return nil // only JSON media types are described
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: x.status, Header: x.header,
		Body: io.NopCloser(bytes.NewReader(x.response)), Options: input.Options,
	})
}

// checkRequest validates a request, unless GitHub itself refuses it or fails.
func checkRequest(x exchange, input *openapi3filter.RequestValidationInput) error {
	if x.status >= http.StatusBadRequest {
		return nil
	}
	if strings.HasSuffix(x.path, "/labels") && bytes.HasPrefix(bytes.TrimSpace(x.request), []byte("[")) {
		return nil // go-github sends a bare array, and GitHub accepts it
	}
	if strings.HasSuffix(x.path, "/contents/") {
		return nil // an empty path means the root directory, and GitHub understands it
	}
	return openapi3filter.ValidateRequest(context.Background(), input)
}

// allowed reports whether GitHub gives such an answer on any operation, described or not: refused credentials,
// limits, outages, a 304 to a conditional request, a redirect of a renamed repository, and a status for a
// missing commit.
func allowed(x exchange) bool {
	switch x.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return hasMessage(x.response)
	case http.StatusUnprocessableEntity: // a status for a commit that does not exist
		return strings.Contains(x.path, "/statuses/") && bytes.Contains(x.response, []byte("No commit found for SHA"))
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect: // a repository that was renamed or transferred
		return strings.Contains(x.header.Get("Location"), "/repositories/")
	case http.StatusNotModified:
		return x.r.Header.Get("If-None-Match") != ""
	}
	return x.status >= http.StatusInternalServerError && hasMessage(x.response) && !bytes.Contains(x.response, []byte("githubsim:"))
}

func hasMessage(response []byte) bool {
	var doc struct {
		Message string `json:"message"`
	}
	return json.Unmarshal(response, &doc) == nil && doc.Message != ""
}

var webhookSchemas = sync.OnceValues(func() (openapi3.Schemas, error) {
	doc, err := load(spec.Webhooks)
	if err != nil {
		return nil, err
	}
	return doc.Components.Schemas, nil
})

// Webhook validates the JSON payload of an event against GitHub's schema for the event and the payload's
// action.
func Webhook(event string, payload []byte) error {
	schemas, err := webhookSchemas()
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(payload, &doc); err != nil {
		return err
	}
	name := "webhook-" + event
	if action, ok := doc["action"].(string); ok {
		name += "-" + action
	}
	schema := schemas[strings.ReplaceAll(name, "_", "-")]
	if schema == nil {
		return fmt.Errorf("GitHub's webhooks, as trimmed here, have no %s", name)
	}
	return schema.Value.VisitJSON(doc, openapi3.MultiErrors(), openapi3.SetSchemaErrorMessageCustomizer(brief))
}

// brief describes what is wrong and where, without printing the schema.
func brief(err *openapi3.SchemaError) string {
	return fmt.Sprintf("/%s: %s", strings.Join(err.JSONPointer(), "/"), err.Reason)
}

// Transport sends requests through next, or http.DefaultTransport if next is nil, and reports webhooks whose
// payload or headers break the contract.
func Transport(t T, next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if err := checkDelivery(r.Header, body); err != nil {
			t.Helper()
			t.Errorf("contract: webhook %s: %v", r.Header.Get("X-GitHub-Event"), err)
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func checkDelivery(header http.Header, body []byte) error {
	for _, name := range []string{"X-GitHub-Event", "X-GitHub-Delivery", "X-GitHub-Hook-ID", "User-Agent"} {
		if header.Get(name) == "" {
			return errors.New("the header " + name + " is missing")
		}
	}
	if header.Get("Content-Type") == "application/x-www-form-urlencoded" {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return err
		}
		body = []byte(form.Get("payload"))
	}
	return Webhook(header.Get("X-GitHub-Event"), body)
}
