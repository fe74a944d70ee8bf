package server_test

import (
	"net/http"
	"strings"
	"testing"

	"touchstone/relay/event"
)

// An open page is notified of changes within its token's scope and of no others. What it then requests shows
// the change, without the parts around it.
func TestOpenPagesAreToldOfChangesWithinTheirScope(t *testing.T) {
	r, _, texts := paged(t, event.Filter{Repos: []string{"acme/*"}}, event.Filter{})
	r.token = texts[0]
	own := r.stream(t, "/changes", "")
	r.token = texts[1]
	all := r.stream(t, "/changes", "")
	greeting := all.message()
	if own.message() != greeting {
		t.Fatal("the streams do not begin at the same place")
	}
	log := strings.TrimSuffix(strings.TrimPrefix(greeting, "id: "), "-0\n")
	r.postGitHub(t, "pull_request", pullPayload("secret/app", "Outside"))
	if frame := all.message(); frame != "id: "+log+"-1\n" {
		t.Fatalf("a page that sees everything is told %q", frame)
	}
	r.postGitHub(t, "pull_request", pullPayload("acme/app", "Inside"))
	if frame := own.message(); frame != "id: "+log+"-2\n" {
		t.Fatalf("a page of acme is told %q first", frame)
	}
	for i, text := range texts {
		header := http.Header{"Authorization": {"Bearer " + text}, "Hx-Request": {"true"}, "Touchstone-As-Of": {log + "-2"}}
		_, page := do(t, http.DefaultClient, http.MethodGet, r.address+"/", "", header)
		if !strings.Contains(page, "Inside") || strings.Contains(page, "Outside") != (i == 1) {
			t.Errorf("as of the change, the board of %d is\n%s", i, page)
		}
		if !strings.Contains(page, `<main id="main"`) || strings.Contains(page, "<header") || strings.Contains(page, "browser-") {
			t.Errorf("it is not the main part alone:\n%s", page)
		}
	}
	response, _ := do(t, http.DefaultClient, http.MethodGet, r.address+"/changes", "", nil)
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger was answered %s", response.Status)
	}
}
