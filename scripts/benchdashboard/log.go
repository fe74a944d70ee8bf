package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/server"
	"touchstone/verdict"
	"touchstone/worktree/steps"
)

type object = map[string]any

const (
	repos  = 20
	judge  = "judge"
	chunk  = 500
	period = 30 * 24 * time.Hour // the time span of the log
)

// fill creates a log like that of a busy month, unless it exists: pull requests of many repositories at the
// same time, each with three rounds, its checks and its comments.
func (b *bench) fill(ctx context.Context) {
	if _, err := os.Stat(b.store()); err == nil {
		return
	}
	store := steps.Got(server.OpenStore(ctx, "sqlite:"+b.store()))
	defer steps.Finally(store.Close)
	each := b.events / b.pulls
	life := max(1, b.pulls/30) // a day, as the number of pull requests opened in it
	slots := b.pulls + life
	began, made := time.Now().Add(-period), 0
	var events []event.Event
	for slot := range slots {
		for k := range each {
			if n := slot - k*life/each; n >= 0 && n < b.pulls {
				at := began.Add(time.Duration(float64(period) * float64(slot) / float64(slots)))
				e := b.event(n, k, each, at)
				made++
				e.Delivery = fmt.Sprint(made)
				events = append(events, e)
			}
			if len(events) == chunk || slot == slots-1 && k == each-1 {
				steps.Got(store.Append(ctx, events))
				events = events[:0]
			}
		}
	}
}

// event returns event k of the given number of events of a pull request.
func (b *bench) event(n, k, each int, at time.Time) event.Event {
	repo, number := fmt.Sprintf("acme/app-%d", n%repos), n/repos+1
	rounds := []int{each / 3, 2 * each / 3, each - 3} // after how many events each round ends
	round := 0
	for round < 2 && k > rounds[round] {
		round++
	}
	head := fmt.Sprintf("%036d%04d", n, round)
	pull := object{
		"id": n + 1, "number": number, "title": fmt.Sprintf("Change %d of the search", n), "state": "open",
		"html_url": fmt.Sprintf("https://github.test/%s/pull/%d", repo, number), "user": object{"login": fmt.Sprintf("author-%d", n%50)},
		"head": object{"sha": head, "ref": "search"}, "base": object{"ref": "main"}, "created_at": at, "updated_at": at,
	}
	body := object{"repository": object{"full_name": repo}, "sender": object{"login": "octocat"}, "links": b.filler(n + k)}
	kind, action := "", ""
	switch {
	case k == 0:
		kind, action, body["pull_request"] = "pull_request", "opened", pull
	case k == rounds[round]:
		kind, action, body["pull_request"] = "pull_request_review", "submitted", pull
		body["review"] = review(n, round, head, at)
	case k == rounds[0]+1, k == rounds[1]+1:
		kind, action, body["pull_request"] = "pull_request", "synchronize", pull
	case k == each-1 && n%10 == 9:
		kind, action, body["label"] = "pull_request", "labeled", object{"name": "needs-human"}
		pull["labels"] = []object{{"name": "needs-human"}}
		body["pull_request"] = pull
	case k == each-1 && n%10 < 8:
		kind, action, body["pull_request"] = "pull_request", "closed", pull
		pull["state"], pull["merged_at"], pull["closed_at"] = "closed", at, at
	case k%4 == 0:
		kind, action = "check_run", "completed"
		body["check_run"] = object{"id": n*each + k, "name": fmt.Sprintf("test-%d", k%8), "head_sha": head, "status": "completed",
			"conclusion": "success", "completed_at": at}
	case k%4 == 1:
		kind, body["sha"], body["context"], body["state"], body["updated_at"] = "status", head, fmt.Sprintf("ci/%d", k%8), "success", at
	case k%4 == 2:
		kind, action = "workflow_job", "completed"
	case k%8 == 3:
		kind, action = "issue_comment", "created"
		body["issue"], body["comment"] = object{"number": number, "pull_request": object{}}, object{"body": "Looks right to me."}
	default:
		kind, action = "check_suite", "completed"
	}
	body["action"] = action
	payload, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	e := event.Event{Source: "github", Type: kind, Action: action, Repo: repo, Sender: "octocat", ReceivedAt: at.UTC(), Payload: payload,
		Headers: map[string]string{"X-Github-Event": kind}}
	if kind != "status" && kind != "workflow_job" {
		e.Number = number
	}
	return e
}

// review returns a round of a pull request: two rounds have findings, and the third approves.
func review(n, round int, head string, at time.Time) object {
	r := verdict.Record{Verdict: verdict.RequestChanges, Head: head, Round: round + 1, Model: "a-model", Guidelines: "0123456789",
		CostUSD: 0.7, Usage: verdict.Usage{Input: 90_000}, Duration: time.Minute}
	state := "changes_requested"
	for i := range 3 {
		status := verdict.Open
		if round == 2 {
			status = []verdict.Status{verdict.Verified, verdict.Refuted}[n%2]
		}
		r.Ledger = append(r.Ledger, verdict.Entry{ID: fmt.Sprint("f", i+1), Status: status, Severity: verdict.Severities()[i+1],
			Dimension: verdict.Security, Rule: fmt.Sprintf("security/S%d", (n+i)%40+1), Path: "search.go", Line: i + 1,
			Claim: "The result is read before the error is looked at.", First: 1, Last: min(round+1, 2)})
	}
	if round == 2 {
		r.Verdict, state = verdict.Approve, "approved"
	}
	seal, err := r.Seal(verdict.Signer{})
	if err != nil {
		panic(err)
	}
	return object{"id": n*3 + round + 1, "body": "Prose.\n\n" + seal, "state": state, "commit_id": head, "user": object{"login": judge},
		"submitted_at": at, "html_url": "https://github.test/review"}
}

// filler is the unread part of GitHub's payloads: mostly addresses.
func (b *bench) filler(n int) []string {
	var list []string
	for size := 0; size < b.payload; size += len(list[0]) + 3 {
		list = append(list, fmt.Sprintf("https://api.github.test/repos/acme/app/%08d/{number}%s", n, strings.Repeat("x", 20)))
	}
	return list
}
