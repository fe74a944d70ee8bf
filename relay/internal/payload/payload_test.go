package payload_test

import (
	"testing"
	"time"

	"touchstone/relay/internal/examples"
	"touchstone/relay/internal/payload"
)

func TestReadsWhatItCan(t *testing.T) {
	p, err := payload.Read([]byte(`{"action":5,"number":"7","updated_at":"yesterday","review":{"id":"x","body":"Fine."},` +
		`"pull_request":{"title":"Add search","created_at":5,"updated_at":"2026-11-02T09:00:00+01:00"},"commits":"none","Sha":"a","sha":"b"}`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Action != "" || p.Number != 0 || !p.UpdatedAt.IsZero() || p.Review.Body != "Fine." || p.PullRequest.Title != "Add search" ||
		!p.PullRequest.CreatedAt.IsZero() || !p.PullRequest.UpdatedAt.Equal(time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)) || p.SHA != "b" {
		t.Errorf("read %+v", p)
	}
	for _, text := range []string{"", "hello", `{"action":"opened"`, `{"updated_at":"yesterday"} x`} {
		if _, err := payload.Read([]byte(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func TestReadsThePublishedExamples(t *testing.T) {
	objects, times := 0, 0
	for _, example := range examples.All(t) {
		p, err := payload.Read(example.Payload)
		if err != nil {
			t.Fatalf("%s: %v", example.Event, err)
		}
		switch {
		case p.PullRequest != nil && p.PullRequest.Head.SHA != "", p.Issue != nil && p.Issue.Number > 0,
			p.CheckRun != nil && p.CheckRun.HeadSHA != "", example.Event == "status" && p.SHA != "", example.Event == "push" && p.After != "":
			objects++
		}
		if p.PullRequest != nil && !p.PullRequest.UpdatedAt.IsZero() || p.Review != nil && !p.Review.SubmittedAt.IsZero() {
			times++
		}
	}
	if objects < 100 || times < 30 {
		t.Errorf("read %d objects and %d times", objects, times)
	}
}

func TestAPayloadIsAboutThePullRequestItNames(t *testing.T) {
	for text, want := range map[string]int{
		`{"number":1,"pull_request":{"number":2},"issue":{"number":3}}`:                                               2,
		`{"number":1,"issue":{"number":3}}`:                                                                           3,
		`{"number":1,"check_run":{"pull_requests":[{"number":4}]}}`:                                                   1,
		`{"check_run":{"pull_requests":[{"number":-4},{"number":5}]},"check_suite":{"pull_requests":[{"number":6}]}}`: 5,
		`{"workflow_run":{"pull_requests":[{"number":7}]}}`:                                                           7,
		`{"pull_request":{"number":-2}}`:                                                                              0,
		`[]`:                                                                                                          0,
	} {
		p, err := payload.Read([]byte(text))
		if err != nil || p.About() != want {
			t.Errorf("%s is about %d, %v; want %d", text, p.About(), err, want)
		}
	}
}
