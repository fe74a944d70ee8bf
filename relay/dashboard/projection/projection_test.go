package projection_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/internal/payload"
	"touchstone/relay/internal/sqlite"
	"touchstone/verdict"
)

// began is when everything in these tests begins.
var began = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// log is a log on disk with a hub over it.
type log struct {
	t     testing.TB
	store *sqlite.Store
	hub   *hub.Hub
	n     int
}

func newLog(t testing.TB) *log {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "relay.db"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := hub.New(t.Context(), store, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return &log{t: t, store: store, hub: h}
}

func (l *log) append(events ...event.Event) {
	l.t.Helper()
	for _, e := range events {
		l.n++
		e.Delivery = fmt.Sprint(l.n)
		if _, _, err := l.hub.Append(l.t.Context(), e); err != nil {
			l.t.Fatal(err)
		}
	}
}

// project returns a projection that has processed the whole log.
func (l *log) project(path string, reviewers ...string) *projection.Projection {
	l.t.Helper()
	return l.projectAs(projection.Config{Path: path, Reviewers: reviewers})
}

// projectAs is project with more of the configuration.
func (l *log) projectAs(config projection.Config) *projection.Projection {
	l.t.Helper()
	config.Log, config.Store, config.GitHub = l.hub, l.store, []string{"github"}
	p, err := projection.Open(l.t.Context(), config)
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	l.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			l.t.Error(err)
		}
		if err := p.Close(); err != nil {
			l.t.Error(err)
		}
	})
	p.Await(l.t.Context())
	return p
}

func (l *log) file() string { return filepath.Join(l.t.TempDir(), "page.db") }

type object = map[string]any

// happened is an event of a pull request, minutes after it all began.
func happened(minutes int, kind, action string, number int, payload object) event.Event {
	at := began.Add(time.Duration(minutes) * time.Minute)
	payload["action"] = action
	text, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	return event.Event{Source: "github", Type: kind, Action: action, Repo: "acme/app", Number: number, Sender: "octocat", ReceivedAt: at,
		Payload: text}
}

// pull is a pull request of alice's, minutes after it all began.
func pull(minutes, number int, head string, more object) object {
	p := object{
		"id": 1000 + number, "number": number, "title": "Add search", "html_url": "https://github.test/acme/app/pull/1", "state": "open",
		"user": object{"login": "alice"},
		"head": object{"sha": head, "ref": "search"}, "base": object{"ref": "main"}, "created_at": began,
		"updated_at": began.Add(time.Duration(minutes) * time.Minute),
	}
	for k, v := range more {
		p[k] = v
	}
	return p
}

func opened(number int, head string) event.Event {
	return happened(0, "pull_request", "opened", number, object{"pull_request": pull(0, number, head, nil)})
}

// record returns a review's record for round 1 of a head.
func record(v verdict.Verdict, head string) verdict.Record {
	r := verdict.Record{Verdict: v, Head: head, Round: 1, Model: "m", CostUSD: 0.5, Usage: verdict.Usage{Input: 10}, Duration: time.Minute}
	if v == verdict.RequestChanges {
		r.Ledger = verdict.Ledger{{ID: "f1", Status: verdict.Open, Severity: verdict.Major, Dimension: verdict.Security, Rule: "security/S2",
			Path: "a.go", Line: 3, Claim: "It leaks.", First: 1, Last: 1}}
	}
	return r
}

func body(r verdict.Record, s verdict.Signer) string {
	seal, err := r.Seal(s)
	if err != nil {
		panic(err)
	}
	return "Prose.\n\n" + seal
}

func reviewed(minutes, number int, action, by, state, head, text string) event.Event {
	review := object{"id": 7, "body": text, "state": state, "commit_id": head, "user": object{"login": by},
		"submitted_at": began.Add(10 * time.Minute), "html_url": "https://github.test/r"}
	return happened(minutes, "pull_request_review", action, number, object{"review": review, "pull_request": pull(0, number, head, nil)})
}

func checked(minutes int, head, conclusion string) event.Event {
	status := "completed"
	if conclusion == "" {
		status = "in_progress"
	}
	at := began.Add(time.Duration(minutes) * time.Minute)
	return happened(minutes, "check_run", status, 0,
		object{"check_run": object{"id": 5, "name": "test", "head_sha": head, "status": status, "conclusion": conclusion, "started_at": at,
			"completed_at": at}})
}

// one is the only pull request of a projection.
func one(t *testing.T, p *projection.Projection) projection.Summary {
	t.Helper()
	list, _, err := p.Pulls(t.Context(), projection.PullQuery{State: "all", Limit: 10})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d pull requests, %v", len(list), err)
	}
	return list[0]
}

// story is a pull request from its opening to its merge.
func story() []event.Event {
	merged := began.Add(30 * time.Minute)
	fix := "Fix it\n\n" + verdict.Repair{Reviewed: "aaa", Findings: []string{"f1"},
		Cost: verdict.Cost{USD: 0.25, Time: time.Minute}}.Trailers()
	second := record(verdict.Approve, "bbb")
	second.Round = 2
	second.Ledger = verdict.Ledger{{ID: "f1", Status: verdict.Verified, Severity: verdict.Major, Dimension: verdict.Security,
		Rule: "security/S2", First: 1, Last: 1}}
	approval := reviewed(22, 1, "submitted", "judge", "approved", "bbb", body(second, verdict.Signer{}))
	approval.Payload = bytes.Replace(approval.Payload, []byte(`"id":7`), []byte(`"id":8`), 1)
	return []event.Event{
		opened(1, "aaa"),
		checked(2, "aaa", ""), checked(3, "aaa", "failure"),
		reviewed(10, 1, "submitted", "judge", "changes_requested", "aaa", body(record(verdict.RequestChanges, "aaa"), verdict.Signer{})),
		happened(12, "pull_request", "labeled", 1,
			object{"label": object{"name": "needs-human"}, "pull_request": pull(12, 1, "aaa", object{"labels": []object{{"name": "needs-human"}}})}),
		happened(13, "pull_request", "unlabeled", 1, object{"label": object{"name": "needs-human"}, "pull_request": pull(13, 1, "aaa", nil)}),
		happened(20, "push", "", 0, object{"ref": "refs/heads/search", "after": "bbb",
			"commits": []object{{"id": "bbb", "message": fix, "timestamp": began}}}),
		happened(20, "pull_request", "synchronize", 1, object{"pull_request": pull(20, 1, "bbb", nil)}),
		approval,
		checked(25, "bbb", "success"),
		happened(30, "pull_request", "closed", 1,
			object{"pull_request": pull(30, 1, "bbb",
				object{"state": "closed", "closed_at": merged, "merged_at": merged, "merged_by": object{"login": "alice"},
					"merge_commit_sha": "ccc"})}),
	}
}

// What the source read in a payload is not read again: the payload here says something else.
func TestReadsNoPayloadASecondTime(t *testing.T) {
	l := newLog(t)
	p := l.project(l.file())
	read, err := payload.Read(opened(1, "aaa").Payload)
	if err != nil {
		t.Fatal(err)
	}
	read.PullRequest.Title = "As the source read it"
	e := opened(1, "aaa")
	e.Parsed = read
	l.append(e)
	p.Await(t.Context())
	if got := one(t, p).Title; got != "As the source read it" {
		t.Errorf("the title is %q", got)
	}
}

func TestAnyOrderAndDuplicatesComeToTheSame(t *testing.T) {
	l := newLog(t)
	l.append(story()...)
	p := l.project(l.file(), "judge")
	want := one(t, p)
	if want.State != "merged" || want.Turn != verdict.TurnNobody || want.Round != 2 || want.Verdict != verdict.Approve ||
		want.CostUSD != 1.25 || want.CI != "success" || want.Open.Blocking() != 0 {
		t.Fatalf("in order: %+v", want)
	}
	trends, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began, began)
	if err != nil || len(trends) != 1 || trends[0].Merged != 1 || trends[0].Rounds != 2 || trends[0].Unattended != 0 ||
		trends[0].Escalations != 1 || trends[0].Merge.P50 != 1800 {
		t.Errorf("trends %+v, %v", trends, err)
	}
	rules, err := p.Rules(t.Context(), projection.RuleQuery{}, began)
	if err != nil || len(rules) != 1 || rules[0].Rule != "security/S2" || rules[0].Outcomes[verdict.Verified] != 1 {
		t.Errorf("rules %+v, %v", rules, err)
	}
	detail, _, err := p.Pull(t.Context(), event.Filter{}, want.Repo, want.Number)
	if err != nil || len(detail.Rounds) != 2 || detail.Rounds[0].CI != "failure" || detail.Rounds[1].CI != "success" {
		t.Errorf("rounds %+v, %v", detail.Rounds, err)
	}
	for seed := range uint64(6) {
		events := append(story(), story()...)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		l := newLog(t)
		p := l.project(l.file(), "judge")
		for _, e := range events {
			l.append(e)
		}
		p.Await(t.Context())
		if got := one(t, p); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d:\n got %+v\nwant %+v", seed, got, want)
		}
		again, err := p.Trends(t.Context(), event.Filter{}, "", projection.Day, began, began)
		if err != nil || !reflect.DeepEqual(again, trends) {
			t.Errorf("seed %d: trends\n got %+v, %v\nwant %+v", seed, again, err, trends)
		}
	}
}

func TestBelievesOnlyTheConfiguredReviewers(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	approve := record(verdict.Approve, "aaa")
	plain, signed := body(approve, verdict.Signer{}), body(approve, verdict.Signer{Key: key, Pull: 1001})
	submitted := func(by, state, text string) event.Event { return reviewed(10, 1, "submitted", by, state, "aaa", text) }
	for name, c := range map[string]struct {
		events   []event.Event
		believed bool
	}{
		"a reviewer's":    {[]event.Event{submitted("judge", "approved", plain)}, true},
		"in another case": {[]event.Event{submitted("Judge", "approved", plain)}, true},
		"signed":          {[]event.Event{submitted("judge", "approved", signed)}, true},
		"a stranger's":    {[]event.Event{submitted("mallory", "approved", plain)}, false},
		"the author's":    {[]event.Event{submitted("alice", "approved", plain)}, false},
		"edited": {[]event.Event{submitted("judge", "approved", plain),
			reviewed(11, 1, "edited", "judge", "approved", "aaa", plain)}, false},
		"edited, and heard so first": {[]event.Event{reviewed(11, 1, "edited", "judge", "approved", "aaa", plain),
			submitted("judge", "approved", plain)}, false},
		"edited, and nobody said so": {[]event.Event{submitted("judge", "approved", "nothing"),
			reviewed(11, 1, "dismissed", "judge", "approved", "aaa", plain)}, false},
		"dismissed": {[]event.Event{submitted("judge", "approved", plain),
			reviewed(11, 1, "dismissed", "judge", "dismissed", "aaa", plain)}, false},
		"of another head": {[]event.Event{reviewed(10, 1, "submitted", "judge", "approved", "aaa",
			body(record(verdict.Approve, "bbb"), verdict.Signer{}))}, false},
		"of another state":             {[]event.Event{submitted("judge", "commented", plain)}, false},
		"signed for another":           {[]event.Event{submitted("judge", "approved", body(approve, verdict.Signer{Key: key, Pull: 5}))}, false},
		"unreadable":                   {[]event.Event{submitted("judge", "approved", strings.Replace(plain, "{", "[", 1))}, false},
		"without a record":             {[]event.Event{submitted("judge", "approved", "Looks good.")}, false},
		"with a text below the record": {[]event.Event{submitted("judge", "approved", plain+"\nThanks!")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			l.append(opened(1, "aaa"))
			l.append(c.events...)
			p := l.project(l.file(), "judge", "alice")
			if s := one(t, p); (s.Verdict == verdict.Approve) != c.believed || c.believed != (s.Turn == verdict.TurnAuthor) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestRoundsNameTheirKey checks that the page shows whose key signed each record, for people to compare with
// the reviewer's machine.
func TestRoundsNameTheirKey(t *testing.T) {
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	l := newLog(t)
	signed := reviewed(11, 1, "submitted", "judge", "approved", "aaa",
		body(record(verdict.Approve, "aaa"), verdict.Signer{Key: key, Pull: 1001}))
	signed.Payload = bytes.Replace(signed.Payload, []byte(`"id":7`), []byte(`"id":8`), 1)
	l.append(opened(1, "aaa"), reviewed(10, 1, "submitted", "judge", "changes_requested", "aaa",
		body(record(verdict.RequestChanges, "aaa"), verdict.Signer{})), signed)
	pull, known, err := l.project(l.file(), "judge").Pull(t.Context(), event.Filter{}, "acme/app", 1)
	if err != nil || !known {
		t.Fatalf("%v, %v", known, err)
	}
	var keys []string
	for _, r := range pull.Rounds {
		keys = append(keys, r.Key)
	}
	if want := []string{"", hex.EncodeToString(public)}; !slices.Equal(keys, want) {
		t.Errorf("signed with %q, want %q", keys, want)
	}
}

func TestTheFirstNeedSaysWhoseTurnItIsAndAllOfThemWhatBlocks(t *testing.T) {
	changes := reviewed(10, 1, "submitted", "judge", "changes_requested", "aaa", body(record(verdict.RequestChanges, "aaa"), verdict.Signer{}))
	held := record(verdict.RequestChanges, "aaa")
	held.Ledger, held.Holds = nil, []verdict.Hold{{Kind: verdict.QualityBar, Path: "ci.yml"}}
	hold := reviewed(10, 1, "submitted", "judge", "changes_requested", "aaa", body(held, verdict.Signer{}))
	approval := reviewed(10, 1, "submitted", "judge", "approved", "aaa", body(record(verdict.Approve, "aaa"), verdict.Signer{}))
	forMain := record(verdict.Approve, "aaa")
	forMain.BaseBranch = "main"
	approvedForMain := reviewed(10, 1, "submitted", "judge", "approved", "aaa", body(forMain, verdict.Signer{}))
	based := func(minutes int, base string) event.Event {
		now := pull(minutes, 1, "aaa", object{"base": object{"ref": base}})
		return happened(minutes, "pull_request", "edited", 1, object{"pull_request": now})
	}
	label := object{"name": "needs-human"}
	approvedStatus := happened(12, "status", "", 0, object{"sha": "aaa", "context": "touchstone/review", "state": "success",
		"description": "approved, round 1", "updated_at": began.Add(12 * time.Minute)})
	approvedStatus.Sender = "judge"
	sign := func(by, context, text string) event.Event {
		e := happened(15, "status", "", 0, object{"sha": "aaa", "context": context, "state": "pending", "description": text,
			"updated_at": began.Add(15 * time.Minute)})
		e.Sender = by
		return e
	}
	for name, c := range map[string]struct {
		events []event.Event
		turn   verdict.Turn
		on     string
		reason string
		// blockers are what stands between it and the merge, and only that.
		blockers []string
	}{
		"new": {nil, verdict.TurnReviewer, "judge", "aaa is not reviewed yet", []string{"Aaa is not reviewed yet."}},
		"changes requested": {[]event.Event{changes}, verdict.TurnAuthor, "alice", "changes requested in round 1: 1 major",
			[]string{"Major at a.go:3: It leaks."}},
		// Its author cannot let it pass.
		"held": {[]event.Event{hold}, verdict.TurnPerson, "",
			"a person has to let it pass: the quality bar is lowered at ci.yml",
			[]string{"A person has to let it pass: the quality bar is lowered at ci.yml."}},
		"approved, CI runs": {[]event.Event{approval, checked(11, "aaa", "")}, verdict.TurnCI, "", "approved, and CI runs: test",
			[]string{"CI runs: test."}},
		"approved, CI fails": {[]event.Event{approval, checked(11, "aaa", "failure")}, verdict.TurnAuthor, "alice",
			"approved, but CI fails: test", []string{"CI fails: test."}},
		"approved, CI cannot fail late": {[]event.Event{approval, checked(11, "aaa", "success"), checked(10, "aaa", "")}, verdict.TurnAuthor,
			"alice", "approved in round 1, ready to merge", nil},
		"a draft": {[]event.Event{happened(5, "pull_request", "converted_to_draft", 1,
			object{"pull_request": pull(5, 1, "aaa", object{"draft": true})})}, verdict.TurnAuthor, "alice", "it is a draft",
			[]string{"It is a draft.", "Aaa is not reviewed yet."}},
		"a draft for which a person is called": {[]event.Event{happened(5, "pull_request", "labeled", 1, object{"label": label,
			"pull_request": pull(5, 1, "aaa", object{"draft": true, "labels": []object{label}})})}, verdict.TurnPerson, "alice",
			"it carries the label needs-human", []string{"It carries the label needs-human: a person has to look at it, and to take the label off.",
				"It is a draft.", "Aaa is not reviewed yet."}},
		"pushed since": {[]event.Event{changes,
			happened(20, "pull_request", "synchronize", 1, object{"pull_request": pull(20, 1, "bbb", nil)})}, verdict.TurnReviewer, "judge",
			"bbb came after round 1 and is not reviewed yet", []string{"Bbb came after round 1 and is not reviewed yet."}},
		"pointed at another base": {[]event.Event{approvedForMain, approvedStatus, based(20, "release")}, verdict.TurnReviewer, "judge",
			"aaa is not reviewed yet for release", []string{"Aaa is not reviewed yet for release."}},
		"and back": {[]event.Event{approvedForMain, approvedStatus, based(20, "release"), based(21, "main")}, verdict.TurnAuthor, "alice",
			"approved, round 1", nil},
		"the agent's own word": {[]event.Event{sign("judge", "touchstone/review", "reviewing, round 1")}, verdict.TurnReviewer, "judge",
			"reviewing, round 1", []string{"Aaa is not reviewed yet."}},
		"somebody else's word": {[]event.Event{sign("mallory", "touchstone/review", "approved, merge it")}, verdict.TurnReviewer,
			"judge", "aaa is not reviewed yet", []string{"Aaa is not reviewed yet."}},
		"the agent waits for a person": {[]event.Event{sign("judge", "touchstone/review", "waiting for @walter: the quality bar is lowered")},
			verdict.TurnPerson, "walter", "waiting for @walter: the quality bar is lowered",
			[]string{"Aaa is not reviewed yet.", "Waiting for @walter: the quality bar is lowered."}},
		"the agent leaves the merge to its author": {[]event.Event{approval,
			sign("alice", "touchstone/fix", "waiting for @alice: merge.auto is off")}, verdict.TurnAuthor, "alice",
			"waiting for @alice: merge.auto is off", []string{"Waiting for @alice: merge.auto is off."}},
		"own statuses are no CI": {[]event.Event{approval, sign("judge", "touchstone/other", "fails")}, verdict.TurnAuthor, "alice",
			"approved in round 1, ready to merge", nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			l.append(opened(1, "aaa"))
			l.append(c.events...)
			p := l.project(l.file(), "judge")
			s := one(t, p)
			if s.Turn != c.turn || s.Reason != c.reason || strings.Join(s.WaitingOn, ",") != c.on {
				t.Errorf("turn %q of %v: %s", s.Turn, s.WaitingOn, s.Reason)
			}
			detail, _, err := p.Pull(t.Context(), event.Filter{}, s.Repo, s.Number)
			if err != nil || !slices.Equal(detail.Blockers, c.blockers) {
				t.Errorf("between it and the merge, %v: %q", err, detail.Blockers)
			}
		})
	}
}

// TestTheTimelineShowsWhatPeopleWrote checks reviews, their comments, and comments on the conversation, each by
// its first line.
func TestTheTimelineShowsWhatPeopleWrote(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	of := object{"number": 1, "pull_request": object{}}
	l.append(opened(1, "aaa"),
		reviewed(1, 1, "submitted", "mona", "commented", "aaa", "<!-- a template -->\nLooks good.\nBut slow."),
		reviewed(2, 1, "submitted", "mona", "approved", "aaa", ""),
		happened(3, "pull_request_review_comment", "created", 1, object{"pull_request": pull(0, 1, "aaa", nil),
			"comment": object{"body": "\nThis loop reads all of it.\nTwice."}}),
		happened(4, "issue_comment", "created", 1, object{"issue": of, "comment": object{"body": "/touchstone review"}}),
	)
	detail, _, err := l.project(l.file(), "judge").Pull(t.Context(), event.Filter{}, "acme/app", 1)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, e := range detail.Events {
		texts = append(texts, e.Text)
	}
	want := []string{"/touchstone review", "This loop reads all of it.", "approved", "commented: Looks good.", "Add search"}
	if !slices.Equal(texts, want) {
		t.Errorf("the timeline says %q, want %q", texts, want)
	}
}
