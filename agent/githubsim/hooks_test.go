package githubsim_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-github/v66/github"

	"touchstone/agent/githubsim"
)

const hookSecret = "it is a secret to everybody"

// inbox is a webhook receiver that keeps what it got.
type inbox struct {
	mu     sync.Mutex
	events []received
	answer int
}

type received struct {
	kind, guid string
	payload    []byte
}

// listen registers a webhook of the repository for the events and receives it.
func (w *world) listen(contentType string, events ...string) *inbox {
	w.t.Helper()
	return w.receive(contentType, func(url string) {
		must(w.As("admin").Repositories.CreateHook(w.t.Context(), "acme", "app", &github.Hook{
			Events: events, Config: &github.HookConfig{URL: &url, ContentType: &contentType, Secret: github.String(hookSecret)},
		}))(w.t)
	})
}

// receive receives the webhooks that register has sent to a URL.
func (w *world) receive(contentType string, register func(url string)) *inbox {
	w.t.Helper()
	in := &inbox{answer: http.StatusAccepted}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(hookSecret))
		mac.Write(body)
		if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); err != nil || r.Header.Get("X-Hub-Signature-256") != want {
			w.t.Errorf("webhook %s: bad signature, %v", r.Header.Get("X-GitHub-Event"), err)
		}
		if contentType == "form" {
			form, err := url.ParseQuery(string(body))
			if err != nil {
				w.t.Error(err)
			}
			body = []byte(form.Get("payload"))
		}
		in.add(w.t, r.Header, body)
		rw.WriteHeader(in.answer)
	}))
	w.t.Cleanup(server.Close)
	register(server.URL)
	w.Settle()
	return in
}

func (in *inbox) add(t testing.TB, header http.Header, body []byte) {
	event := header.Get("X-GitHub-Event")
	if _, err := github.ParseWebHook(event, body); err != nil {
		t.Errorf("go-github cannot read %s: %v", event, err)
	}
	var doc struct{ Action string }
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Error(err)
	}
	if doc.Action != "" {
		event += "/" + doc.Action
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.events = append(in.events, received{event, header.Get("X-GitHub-Delivery"), body})
}

func (in *inbox) kinds() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	var out []string
	for _, e := range in.events {
		out = append(out, e.kind)
	}
	return out
}

// ciThat makes CI end with a conclusion.
func ciThat(conclusion string) func(*githubsim.Config) {
	return func(cfg *githubsim.Config) {
		cfg.CI = func(context.Context, string, string, string) githubsim.CIResult {
			return githubsim.CIResult{Conclusion: conclusion, Summary: "as told", Log: "log"}
		}
	}
}

func TestPushToAPullRequestSendsSynchronize(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	in := w.listen("form", "pull_request", "pull_request_review")
	pr := w.open("feature", map[string]string{"a.txt": "a\n"})
	after := w.push(author, "feature", map[string]string{"a.txt": "b\n"})
	must(w.As(reviewer).PullRequests.CreateReview(t.Context(), "acme", "app", pr.GetNumber(),
		&github.PullRequestReviewRequest{Event: github.String("APPROVE")}))(t)
	w.Settle()
	if got := in.kinds(); !slices.Equal(got,
		[]string{"ping", "pull_request/opened", "pull_request/synchronize", "pull_request_review/submitted"}) {
		t.Fatal(got)
	}
	var sync struct {
		Before, After string
		PR            struct{ Head struct{ SHA string } } `json:"pull_request"`
	}
	if err := json.Unmarshal(in.events[2].payload, &sync); err != nil {
		t.Fatal(err)
	}
	if sync.Before != pr.GetHead().GetSHA() || sync.After != after || sync.PR.Head.SHA != after {
		t.Fatalf("synchronize %+v, pushed %s", sync, after)
	}
	var review struct{ Review struct{ State string } }
	if err := json.Unmarshal(in.events[3].payload, &review); err != nil || review.Review.State != "approved" {
		t.Fatalf("review state %q in the webhook, %v", review.Review.State, err)
	}
	if out := w.git("", "ls-remote", w.Dir+"/acme/app.git", "refs/pull/1/head"); out[:40] != after {
		t.Fatalf("refs/pull/1/head is at %s, want %s", out, after)
	}
}

func TestDeliveryFaults(t *testing.T) {
	comment := func(w *world, n int, text string) {
		must(w.As(author).Issues.CreateComment(t.Context(), "acme", "app", n, &github.IssueComment{Body: &text}))(t)
	}
	bodies := func(in *inbox) (out []string) {
		for _, e := range in.events[1:] {
			var doc struct{ Comment struct{ Body string } }
			if err := json.Unmarshal(e.payload, &doc); err != nil {
				t.Fatal(err)
			}
			out = append(out, doc.Comment.Body)
		}
		return out
	}
	for name, tt := range map[string]struct {
		faults githubsim.Faults
		want   []string
	}{
		"in order":   {githubsim.Faults{}, []string{"1", "2", "3"}},
		"duplicated": {githubsim.Faults{DuplicateDeliveries: 1}, []string{"1", "1", "2", "3"}},
		"lost":       {githubsim.Faults{LoseDeliveries: 2}, []string{"3"}},
		"shuffled":   {githubsim.Faults{ShuffleDeliveries: 3}, []string{"3", "2", "1"}},
		"delayed":    {githubsim.Faults{DeliveryDelayMS: 5}, []string{"1", "2", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, nil, githubsim.RepoOptions{})
			pr := w.open("feature", map[string]string{"a.txt": "a\n"})
			in := w.listen("json", "issue_comment")
			w.SetFaults(tt.faults)
			for _, text := range []string{"1", "2", "3"} {
				comment(w, pr.GetNumber(), text)
			}
			w.Settle()
			if got := bodies(in); !slices.Equal(got, tt.want) {
				t.Fatalf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestRedeliveryKeepsTheDeliveryID(t *testing.T) {
	w := start(t, nil, githubsim.RepoOptions{})
	in := w.listen("json", "pull_request")
	in.answer = http.StatusServiceUnavailable
	w.open("feature", map[string]string{"a.txt": "a\n"})
	admin, ctx := w.As("admin"), t.Context()
	hook := must(admin.Repositories.ListHooks(ctx, "acme", "app", nil))(t)[0]
	failed := must(admin.Repositories.ListHookDeliveries(ctx, "acme", "app", hook.GetID(), nil))(t)[0]
	if failed.GetStatusCode() != http.StatusServiceUnavailable || failed.GetEvent() != "pull_request" || failed.GetAction() != "opened" {
		t.Fatalf("recorded %v", failed)
	}
	if _, resp, _ := admin.Repositories.RedeliverHookDelivery(ctx, "acme", "app", hook.GetID(),
		failed.GetID()); resp.StatusCode != http.StatusAccepted {
		t.Fatal(resp.Status)
	}
	w.Settle()
	if n := len(in.events); n != 3 || in.events[1].guid != in.events[2].guid || string(in.events[1].payload) != string(in.events[2].payload) {
		t.Fatalf("received %d deliveries", n)
	}
}
