package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/relay/server"
)

// signIn returns a browser with a session of a token.
func (r *relay) signIn(t *testing.T, token string) *http.Client {
	t.Helper()
	browser := r.browser(t)
	if response, _ := do(t, browser, http.MethodPost, r.address+"/sign-in", url.Values{"token": {token}}.Encode(),
		form); response.StatusCode != http.StatusSeeOther {
		t.Fatalf("sign-in: %s", response.Status)
	}
	return browser
}

// managed returns a relay with a page, an administrator's token, and one token for each scope.
func managed(t *testing.T, scopes ...event.Filter) (*relay, string, []string) {
	t.Helper()
	page := &server.Page{File: filepath.Join(t.TempDir(), "page.db"), Reviewers: []string{"judge"}, GitHub: []string{"github"}}
	return administered(t, server.Config{Page: page}, scopes...)
}

// fromElsewhere are a browser's headers for a form on another origin's page.
var fromElsewhere = http.Header{"Content-Type": form["Content-Type"], "Origin": {"https://evil.test"}, "Sec-Fetch-Site": {"cross-site"}}

func TestAdministratorsAloneChangeSettingsFromThePage(t *testing.T) {
	r, admin, texts := managed(t, event.Filter{})
	ops, laptop := r.signIn(t, admin), r.signIn(t, texts[0])
	set := url.Values{"key": {"engine.off"}, "value": {"opus"}, "act": {"set"}}.Encode()
	for name, try := range map[string]struct {
		browser *http.Client
		header  http.Header
		body    string
		want    int
	}{
		"a subscriber":            {laptop, form, set, http.StatusForbidden},
		"a stranger":              {r.browser(t), form, set, http.StatusSeeOther},
		"another origin's page":   {ops, fromElsewhere, set, http.StatusForbidden},
		"what is no setting":      {ops, form, "key=engine.command&value=rm&act=set", http.StatusBadRequest},
		"a value that is no name": {ops, form, "key=engine.off&value=o&act=set", http.StatusBadRequest},
	} {
		response, text := do(t, try.browser, http.MethodPost, r.address+"/health/settings", try.body, try.header)
		if response.StatusCode != try.want {
			t.Errorf("%s: %s\n%s", name, response.Status, text)
		}
		if held := r.settings(t, admin); len(held.Values) != 0 {
			t.Fatalf("after %s these settings hold: %v", name, held.Values)
		}
	}
	response, _ := do(t, ops, http.MethodPost, r.address+"/health/settings", set, form)
	if held := r.settings(t, admin); response.Header.Get("Location") != "/health?done=set" || held.Values["engine.off"] != "opus" ||
		held.By != "ops" {
		t.Errorf("an administrator: %s to %s, %+v", response.Status, response.Header.Get("Location"), held)
	}
	for who, want := range map[*http.Client]bool{ops: true, laptop: false} {
		if _, text := do(t, who, http.MethodGet, r.address+"/health?done=set", "", nil); !strings.Contains(text, "opus") ||
			strings.Contains(text, `action="/health/settings"`) != want {
			t.Errorf("the page of settings, administrator %t:\n%s", want, text)
		}
	}
	do(t, ops, http.MethodPost, r.address+"/health/settings", "key=engine.off&act=unset", form)
	if held := r.settings(t, admin); len(held.Values) != 0 {
		t.Errorf("after unsetting: %v", held.Values)
	}
}

func TestAdministratorsAloneHaveGitHubRedeliver(t *testing.T) {
	r, admin, texts := managed(t, event.Filter{})
	r.postGitHub(t, "pull_request", pullPayload("acme/app", "Inside"))
	address := fmt.Sprintf("%s/log/%s/redeliver", r.address, event.Cursor{Log: r.log(t, admin), Seq: 1})
	ops := r.signIn(t, admin)
	for name, try := range map[string]struct {
		browser *http.Client
		header  http.Header
		want    int
	}{
		"a subscriber":          {r.signIn(t, texts[0]), form, http.StatusForbidden},
		"a stranger":            {r.browser(t), form, http.StatusSeeOther},
		"another origin's page": {ops, fromElsewhere, http.StatusForbidden},
		"an administrator of a relay without hooks": {ops, form, http.StatusConflict},
	} {
		if response, text := do(t, try.browser, http.MethodPost, address, "", try.header); response.StatusCode != try.want {
			t.Errorf("%s: %s\n%s", name, response.Status, text)
		}
	}
}

// log returns the id of the relay's log.
func (r *relay) log(t *testing.T, token string) string {
	t.Helper()
	var health struct{ Log string }
	must(t, (&client.Client{URL: r.address, Token: token}).Get(t.Context(), "api/v1/health", nil, &health))
	return health.Log
}

// subscriberOption matches a subscriber on an event's page that the event can be sent to.
var subscriberOption = regexp.MustCompile(`<option value="([A-Z0-9]+)">`)

func TestAnEventIsSentAgainToOneSubscriberOfTheSameToken(t *testing.T) {
	r, admin, texts := managed(t, event.Filter{Repos: []string{"acme/*"}}, event.Filter{})
	streams := map[string]*frames{}
	for name, text := range map[string]string{"own": texts[0], "other's": texts[1]} {
		r.token = text
		streams[name] = r.open(t, "", "")
		streams[name].next()
	}
	r.token = admin
	r.postGitHub(t, "pull_request", pullPayload("acme/app", "Inside"))
	r.postGitHub(t, "pull_request", pullPayload("secret/app", "Outside"))
	sent := streams["own"].next()
	_, id, _ := strings.Cut(sent, "\nid: ")
	log, _, _ := strings.Cut(id, "-")
	if streams["other's"].next() != sent || !strings.Contains(streams["other's"].next(), "Outside") {
		t.Fatal("the subscribers do not follow the log")
	}
	own, other := r.signIn(t, texts[0]), r.signIn(t, texts[1])
	subscriber := func(browser *http.Client) string {
		_, text := do(t, browser, http.MethodGet, r.address+"/log/"+log+"-1", "", nil)
		found := subscriberOption.FindAllStringSubmatch(text, -1)
		if len(found) != 1 {
			t.Fatalf("%d subscribers to send to in\n%s", len(found), text)
		}
		return found[0][1]
	}
	again := func(browser *http.Client, seq int, to string, header http.Header) int {
		response, _ := do(t, browser, http.MethodPost, fmt.Sprintf("%s/log/%s-%d/send", r.address, log, seq), "to="+to, header)
		return response.StatusCode
	}
	to := subscriber(own)
	for name, status := range map[string][2]int{
		"another token's subscriber":    {again(other, 1, to, form), http.StatusNotFound},
		"an event outside the scope":    {again(own, 2, to, form), http.StatusNotFound},
		"an event that is not there":    {again(own, 99, to, form), http.StatusNotFound},
		"another origin's page":         {again(own, 1, to, fromElsewhere), http.StatusForbidden},
		"one's own, an administrator's": {again(r.signIn(t, admin), 1, to, form), http.StatusNotFound},
	} {
		if status[0] != status[1] {
			t.Errorf("%s: %d", name, status[0])
		}
	}
	for path, method := range map[string]string{
		"/log/otherlog-1": http.MethodGet, "/log/otherlog-1/send": http.MethodPost,
		"/log/" + log + "-2": http.MethodGet, "/api/v1/events/" + log + "-2": http.MethodGet,
	} {
		if response, _ := do(t, own, method, r.address+path, "to="+to, form); response.StatusCode != http.StatusNotFound {
			t.Errorf("an event of another log or outside the scope, %s: %s", path, response.Status)
		}
	}
	if status := again(own, 1, to, form); status != http.StatusSeeOther {
		t.Fatalf("one's own: %d", status)
	}
	if frame := streams["own"].next(); frame != sent {
		t.Errorf("sent again:\n%s\nwant\n%s", frame, sent)
	}
	// Behind it the subscriber is told where it stands: it resumes there, and misses nothing.
	if frame := streams["own"].next(); frame != "id: "+log+"-1\n" {
		t.Errorf("behind it: %q", frame)
	}
	r.postGitHub(t, "pull_request", pullPayload("acme/app", "Later"))
	for name, stream := range streams {
		if frame := stream.next(); !strings.Contains(frame, "Later") {
			t.Errorf("the next frame of the %s stream is\n%s", name, frame)
		}
	}
}
