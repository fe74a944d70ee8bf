package contract_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"touchstone/agent/githubsim"
	"touchstone/agent/githubsim/contract"
)

// report collects what the gate reports.
type report []string

func (r *report) Helper()                           {}
func (r *report) Errorf(format string, args ...any) { *r = append(*r, fmt.Sprintf(format, args...)) }

// rewrite changes what next answers on its way to the gate.
func rewrite(next http.Handler, change func(status int, body string) (int, string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner := httptest.NewRecorder()
		next.ServeHTTP(inner, r)
		status, body := change(inner.Code, inner.Body.String())
		for name, values := range inner.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}

func simulator(t *testing.T) http.Handler {
	t.Helper()
	sim, err := githubsim.New(githubsim.Config{Dir: t.TempDir(), URL: "http://sim.example",
		Users: []githubsim.User{{Login: "octocat", Token: "t", Admin: true}}})
	if err != nil {
		t.Fatal(err)
	}
	err = sim.CreateRepo(t.Context(), githubsim.RepoOptions{Owner: "octocat", Name: "app", Files: map[string]string{"a": "a\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.CreateRepo(t.Context(), githubsim.RepoOptions{Owner: "acme", Name: "app",
		Files: map[string]string{"a": "a\n"}}); err != nil {
		t.Fatal(err)
	}
	exchange(sim.Handler(), "POST", "/orgs/acme/hooks", `{"name":"web","config":{"url":"http://127.0.0.1:1/"}}`)
	if _, err := sim.Commit(t.Context(), "octocat", "octocat/app", "main", "b", map[string]string{"b": "b\n"}); err != nil {
		t.Fatal(err)
	}
	return sim.Handler()
}

func exchange(handler http.Handler, method, path, body string) {
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer t")
	r.Header.Set("Content-Type", "application/json")
	handler.ServeHTTP(httptest.NewRecorder(), r)
}

const viewer = `{"query":"{ viewer { login id } repository(owner: \"octocat\", name: \"app\") { pullRequests(first: 1) { totalCount } } }"}`

// Each mutation of an honest answer must turn the gate red.
func TestMutationsOfTheSimulatorAreFound(t *testing.T) {
	sim := simulator(t)
	replace := func(old, with string) func(int, string) (int, string) {
		return func(status int, body string) (int, string) {
			if !strings.Contains(body, old) {
				t.Errorf("the answer holds no %s, so nothing was changed: %s", old, body)
			}
			return status, strings.Replace(body, old, with, 1)
		}
	}
	for name, tt := range map[string]struct {
		method, path, body string
		change             func(int, string) (int, string)
		says               string
	}{
		"honest":              {"GET", "/repos/octocat/app", "", replace("{", "{"), ""},
		"honest under v3":     {"GET", "/api/v3/repos/octocat/app", "", replace("{", "{"), ""},
		"honest GraphQL":      {"POST", "/api/graphql", viewer, replace("{", "{"), ""},
		"dropped field":       {"GET", "/repos/octocat/app", "", replace(`"full_name"`, `"fool_name"`), "full_name"},
		"changed type":        {"GET", "/repos/octocat/app", "", replace(`"fork":false`, `"fork":"no"`), "fork"},
		"null where none may": {"GET", "/repos/octocat/app", "", replace(`"name":"app"`, `"name":null`), "name"},
		"unknown status":      {"GET", "/repos/octocat/app", "", func(_ int, body string) (int, string) { return 418, body }, "418"},
		"own failure": {"GET", "/repos/octocat/app", "",
			func(int, string) (int, string) { return 500, `{"message":"githubsim: broken"}` }, "500"},
		"unknown path":                            {"GET", "/repos/octocat/app/nonsense", "", replace("{", "{"), "no such operation"},
		"unknown path of an organization":         {"GET", "/orgs/acme/nonsense", "", replace("{", "{"), "no such operation"},
		"unknown path of an app":                  {"GET", "/app/hook/nonsense/1", "", replace("{", "{"), "no such operation"},
		"dropped field of an organization's hook": {"GET", "/orgs/acme/hooks", "", replace(`"events"`, `"evens"`), "events"},
		"body in place of a redirect": {"GET", "/repos/octocat/app/actions/jobs/1/logs", "",
			func(int, string) (int, string) { return 200, "log" }, "200"},
		"dropped field of a comparison": {"GET", "/repos/octocat/app/compare/main...main", "",
			replace(`"merge_base_commit"`, `"base"`), "merge_base_commit"},
		"wrong request": {"POST", "/repos/octocat/app/pulls", `{"head":1,"base":"main"}`,
			func(int, string) (int, string) { return 201, "{}" }, "the request"},
		"GraphQL dropped field": {"POST", "/graphql", viewer, replace(`"login"`, `"logon"`), "viewer.login"},
		"GraphQL changed type":  {"POST", "/graphql", viewer, replace(`"totalCount":0`, `"totalCount":"0"`), "not a Int"},
		"GraphQL null":          {"POST", "/graphql", viewer, replace(`"login":"octocat"`, `"login":null`), "null"},
		"GraphQL extra field":   {"POST", "/graphql", viewer, replace(`"login"`, `"extra":1,"login"`), "asked for"},
		"GraphQL status": {"POST", "/graphql", viewer, func(_ int, body string) (int, string) { return 418, body },
			"418"},
		"GraphQL request": {"POST", "/graphql", `{"query":"{ viewer { nonsense } }"}`, replace("{", "{"), "nonsense"},
	} {
		t.Run(name, func(t *testing.T) {
			var got report
			exchange(contract.Wrap(&got, rewrite(sim, tt.change)), tt.method, tt.path, tt.body)
			switch all := strings.Join(got, "\n"); {
			case tt.says == "" && all != "":
				t.Fatalf("an honest answer was reported: %s", all)
			case !strings.Contains(all, tt.says):
				t.Fatalf("reported %q, want it to name %q", all, tt.says)
			case tt.says != "" && all == "":
				t.Fatal("nothing was reported")
			}
		})
	}
}

// Any operation may answer with limits, outages and refused tokens.
func TestWhatIsAllowedBesideTheDescription(t *testing.T) {
	sim := simulator(t)
	for _, status := range []int{401, 403, 429, 502} {
		var got report
		exchange(contract.Wrap(&got, rewrite(sim, func(int, string) (int, string) { return status, `{"message":"no"}` })), "GET",
			"/repos/octocat/app", "")
		if len(got) > 0 {
			t.Errorf("%d: %v", status, got)
		}
		exchange(contract.Wrap(&got, rewrite(sim, func(int, string) (int, string) { return status, "oops" })), "GET", "/repos/octocat/app", "")
		if len(got) == 0 {
			t.Errorf("%d without GitHub's error document passes", status)
		}
	}
}

type answering func(*http.Request) (*http.Response, error)

func (f answering) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestMutationsOfWebhooksAreFound(t *testing.T) {
	const ping = `{"zen":"z","hook_id":1,"hook":{"active":true,"config":{"content_type":"json","insecure_ssl":"0","url":"http://x.example"},
		"created_at":"2020-01-01T00:00:00Z","events":["push"],"id":1,"name":"web","type":"Repository","updated_at":"2020-01-01T00:00:00Z"}}`
	for name, tt := range map[string]struct {
		event, payload, drop, says string
	}{
		"honest":        {event: "ping", payload: ping},
		"dropped field": {event: "ping", payload: strings.Replace(ping, `"active":true,`, "", 1), says: "active"},
		"changed type":  {event: "ping", payload: strings.Replace(ping, `"active":true`, `"active":"yes"`, 1), says: "active"},
		"unknown event": {event: "pong", payload: ping, says: "webhook-pong"},
		"no delivery":   {event: "ping", payload: ping, drop: "X-GitHub-Delivery", says: "X-GitHub-Delivery"},
	} {
		t.Run(name, func(t *testing.T) {
			var got report
			transport := contract.Transport(&got, answering(func(r *http.Request) (*http.Response, error) {
				if body, err := io.ReadAll(r.Body); err != nil || string(body) != tt.payload {
					t.Errorf("the gate passed on %q, %v", body, err)
				}
				return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
			}))
			req, err := http.NewRequest("POST", "http://relay.example/", bytes.NewReader([]byte(tt.payload)))
			if err != nil {
				t.Fatal(err)
			}
			for header, value := range map[string]string{
				"Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/1", "X-GitHub-Event": tt.event, "X-GitHub-Delivery": "d",
				"X-GitHub-Hook-ID": "1",
			} {
				if header != tt.drop {
					req.Header.Set(header, value)
				}
			}
			if _, err := transport.RoundTrip(req); err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(got, "\n"); (all == "") != (tt.says == "") || !strings.Contains(all, tt.says) {
				t.Fatalf("reported %q, want it to name %q", all, tt.says)
			}
		})
	}
}
