package source_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/internal/examples"
	"touchstone/relay/internal/payload"
	"touchstone/relay/source"
	"touchstone/relay/source/sourcetest"
)

const secret = "It's a Secret to Everybody"

var at = time.Date(2026, 5, 4, 3, 2, 1, 987654321, time.FixedZone("", 3600))

func accept(kind string, body []byte, change func(http.Header)) (event.Event, error) {
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("X-GitHub-Event", kind)
	header.Set("X-GitHub-Delivery", "d-1")
	header.Set("X-Hub-Signature-256", sourcetest.Signature(secret, body))
	if change != nil {
		change(header)
	}
	return source.GitHub{Secret: secret}.Accept("github", header, body, at)
}

// GitHub documents a secret, a body and their signature to test against:
// https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
func TestDocumentedSignature(t *testing.T) {
	want := "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	if got := sourcetest.Signature(secret, []byte("Hello, World!")); got != want {
		t.Fatalf("the tests sign %s, GitHub %s", got, want)
	}
	header := http.Header{"X-Hub-Signature-256": {want}}
	_, err := source.GitHub{Secret: secret}.Accept("github", header, []byte("Hello, World!"), at)
	if err == nil || errors.Is(err, source.ErrUnauthorized) {
		t.Errorf("the documented signature: %v, want a complaint about something else", err)
	}
}

func TestExamplesAreAccepted(t *testing.T) {
	described := 0
	for i, example := range examples.All(t) {
		asJSON, err := accept(example.Event, example.Payload, nil)
		if err != nil {
			t.Errorf("example %d, %s: %v", i, example.Event, err)
			continue
		}
		if !bytes.Equal(asJSON.Payload, example.Payload) {
			t.Errorf("example %d, %s: the payload has changed", i, example.Event)
		}
		form := []byte(url.Values{"payload": {string(example.Payload)}}.Encode())
		asForm, err := accept(example.Event, form, func(h http.Header) {
			h.Set("Content-Type", "application/x-www-form-urlencoded")
		})
		asForm.Headers, asForm.Signature = asJSON.Headers, asJSON.Signature
		if err != nil || !reflect.DeepEqual(asForm, asJSON) {
			t.Errorf("example %d, %s: as a form it is another event (%v)", i, example.Event, err)
		}
		if asJSON.Repo != "" && asJSON.Sender != "" {
			described++
		}
	}
	if described < 200 {
		t.Errorf("only %d examples have a repository and a sender", described)
	}
}

func TestGitHubsPayloadsAreDescribed(t *testing.T) {
	for _, test := range []struct {
		name, body string
		want       event.Event
	}{
		{"pull request", `{"action":"opened","number":7,"pull_request":{"number":7},"repository":{"full_name":"acme/app"},` +
			`"sender":{"login":"octocat"}}`,
			event.Event{Action: "opened", Number: 7, Repo: "acme/app", Sender: "octocat"}},
		{"comment", `{"action":"created","issue":{"number":8}}`, event.Event{Action: "created", Number: 8}},
		{"check run", `{"check_run":{"pull_requests":[{"number":9},{"number":10}]}}`, event.Event{Number: 9}},
		{"check suite", `{"check_suite":{"pull_requests":[{"number":11}]}}`, event.Event{Number: 11}},
		{"workflow run", `{"workflow_run":{"pull_requests":[{"number":12}]}}`, event.Event{Number: 12}},
		{"workflow run of a branch", `{"workflow_run":{"pull_requests":[]}}`, event.Event{}},
		{"number alone", `{"number":13}`, event.Event{Number: 13}},
		{"wrong types", `{"action":{"a":1},"number":"7","issue":[1],"repository":{"full_name":"acme/app"},"sender":null}`,
			event.Event{Repo: "acme/app"}},
		{"odd numbers", `{"number":1e99,"issue":{"number":-4},"pull_request":{"number":2.5}}`, event.Event{}},
		{"a name too long", `{"action":"` + strings.Repeat("a", 300) + `"}`, event.Event{}},
		{"no object", `[1,2]`, event.Event{}},
		{"null", `null`, event.Event{}},
	} {
		got, err := accept("pull_request", []byte(test.body), nil)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		want := test.want
		want.Source, want.Delivery, want.Type = "github", "d-1", "pull_request"
		want.ReceivedAt = time.Date(2026, 5, 4, 2, 2, 1, 987000000, time.UTC)
		want.Headers, want.Payload, want.JSON, want.Signature, want.SignedOnce = got.Headers, []byte(test.body), true, got.Signature, true
		if want.Parsed, err = payload.Read(want.Payload); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", test.name, got, want)
		}
	}
}

func TestWhatGitHubDidNotSignOrNobodyCanReadIsRefused(t *testing.T) {
	form := func(h http.Header) { h.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8") }
	for name, test := range map[string]struct {
		body         string
		change       func(http.Header)
		unauthorized bool
	}{
		"no signature":          {`{}`, func(h http.Header) { h.Del("X-Hub-Signature-256") }, true},
		"SHA-1 signature":       {`{}`, func(h http.Header) { h.Set("X-Hub-Signature-256", "sha1=00") }, true},
		"no hexadecimal":        {`{}`, func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256=zz") }, true},
		"empty digest":          {`{}`, func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256=") }, true},
		"another body's":        {`{}`, func(h http.Header) { h.Set("X-Hub-Signature-256", sourcetest.Signature(secret, []byte(`{ }`))) }, true},
		"another secret's":      {`{}`, func(h http.Header) { h.Set("X-Hub-Signature-256", sourcetest.Signature("x", []byte(`{}`))) }, true},
		"no event":              {`{}`, func(h http.Header) { h.Del("X-GitHub-Event") }, false},
		"an event of two lines": {`{}`, func(h http.Header) { h.Set("X-GitHub-Event", "a\nid: 1") }, false},
		"not JSON":              {`hello`, nil, false},
		"empty":                 {``, nil, false},
		"form without payload":  {`a=b`, form, false},
		"two payloads":          {`payload=1&payload=2`, form, false},
		"broken form":           {`payload=%zz`, form, false},
	} {
		_, err := accept("push", []byte(test.body), test.change)
		if err == nil || errors.Is(err, source.ErrUnauthorized) != test.unauthorized {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error gives the secret away", name)
		}
	}
}

func TestHeadersKept(t *testing.T) {
	got, err := accept("push", []byte(`{}`), func(h http.Header) {
		h.Set("Authorization", "Bearer x")
		h.Set("Cookie", "x")
		h.Set("X-GitHub-Hook-ID", "1")
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Content-Type": "application/json", "X-Github-Event": "push", "X-Github-Delivery": "d-1", "X-Github-Hook-Id": "1",
	}
	if !reflect.DeepEqual(got.Headers, want) || got.Signature != sourcetest.Signature(secret, []byte(`{}`)) {
		t.Errorf("kept %v and %q", got.Headers, got.Signature)
	}
}

func TestDeliveryWithoutID(t *testing.T) {
	g := source.GitHub{}
	delivery := func(body string, at time.Time) string {
		e, err := g.Accept("github", http.Header{"X-Github-Event": {"push"}}, []byte(body), at)
		if err != nil {
			t.Fatal(err)
		}
		return e.Delivery
	}
	first := delivery(`{"a":1}`, at)
	if first == "" || first != delivery(`{"a":1}`, at.Add(time.Second)) {
		t.Error("the same body in the same minute is another delivery")
	}
	if first == delivery(`{"a":2}`, at) || first == delivery(`{"a":1}`, at.Add(time.Minute)) {
		t.Error("another body, or another minute, is the same delivery")
	}
}

func FuzzSignature(f *testing.F) {
	body := []byte(`{}`)
	good := sourcetest.Signature(secret, body)
	for _, seed := range []string{good, strings.ToUpper(good), "sha256=", "sha1=00", "", good + "00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, signature string) {
		_, err := accept("push", body, func(h http.Header) { h.Set("X-Hub-Signature-256", signature) })
		if accepted := err == nil; accepted != (strings.HasPrefix(signature, "sha256=") && strings.EqualFold(signature, good)) {
			t.Errorf("signature %q: %v", signature, err)
		}
	})
}

func FuzzForm(f *testing.F) {
	for _, seed := range []string{"payload=%7B%7D", "payload={}&a=b", "a;b", "payload=%", "payload=1&payload=2"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := accept("push", body, func(h http.Header) {
			h.Set("Content-Type", "application/x-www-form-urlencoded")
		})
		if err == nil && !json.Valid(e.Payload) {
			t.Errorf("accepted the payload %q", e.Payload)
		}
	})
}

// While a secret is being changed, hooks with the old secret and hooks with the new one both work.
func TestOldAndNewSecretBothWorkDuringAChange(t *testing.T) {
	g := source.GitHub{Secret: "new", Previous: secret}
	for signedWith, good := range map[string]bool{"new": true, secret: true, "older": false, "": false} {
		header := http.Header{"X-Github-Event": {"push"}, "X-Hub-Signature-256": {sourcetest.Signature(signedWith, []byte(`{}`))}}
		if _, err := g.Accept("github", header, []byte(`{}`), at); (err == nil) != good {
			t.Errorf("signed with %q: %v", signedWith, err)
		}
	}
	header := http.Header{"X-Github-Event": {"push"}, "X-Hub-Signature-256": {sourcetest.Signature("", []byte(`{}`))}}
	if _, err := (source.GitHub{Secret: "new"}).Accept("github", header, []byte(`{}`), at); err == nil {
		t.Error("without a previous secret, an empty one is believed")
	}
}

// The repository decides which subscribers get an event, so only a member with exactly GitHub's name counts,
// for every kind of source.
func TestNamesCountInTheirOwnCaseOnly(t *testing.T) {
	for _, body := range []string{
		`{"Repository":{"full_name":"acme/secret"}}`,
		`{"repository":{"FULL_NAME":"acme/secret"}}`,
		`{"REPOSITORY":{"Full_Name":"acme/secret"},"Action":"opened","SENDER":{"login":"x"}}`,
		`{"commonLabels":{"Repository":"acme/secret"},"Status":"firing"}`,
		`{"CommonLabels":{"repository":"acme/secret"},"Type":"x"}`,
	} {
		for name, kind := range map[string]interface {
			Accept(string, http.Header, []byte, time.Time) (event.Event, error)
		}{"github": source.GitHub{}, "generic": source.Generic{}, "grafana": source.Grafana{}, "standard": source.Standard{}} {
			e, err := kind.Accept(name, http.Header{"X-Github-Event": {"push"}}, []byte(body), at)
			if err != nil || e.Repo != "" || e.Action != "" || e.Sender != "" || e.Type == "x" {
				t.Errorf("%s reads %s as %+v, %v", name, body, e, err)
			}
		}
	}
}

// A text that cannot be printed, compared and written to a subscriber is not used as a delivery's id.
func TestDeliveryIDsThatAreNoText(t *testing.T) {
	for _, id := range []string{"\xff\xfe", "a\x1b[2J", "a\u202eb", "a\u200bb", strings.Repeat("a", 257)} {
		header := http.Header{"X-Github-Event": {"push"}, "X-Github-Delivery": {id}, "Webhook-Id": {id}, "X-Id": {id}}
		for name, kind := range map[string]interface {
			Accept(string, http.Header, []byte, time.Time) (event.Event, error)
		}{"github": source.GitHub{}, "generic": source.Generic{DeliveryHeader: "X-Id"}, "standard": source.Standard{}} {
			if e, err := kind.Accept(name, header, []byte(`{}`), at); err != nil || !strings.HasPrefix(e.Delivery, "sha256-") {
				t.Errorf("%s takes %q as %q, %v", name, id, e.Delivery, err)
			}
		}
	}
}
