package projection_test

import (
	"bytes"
	"testing"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/verdict"
)

// A token's scope limits every list, count and sum.
func TestScopeLimitsEverything(t *testing.T) {
	l := newLog(t)
	l.append(story()...)
	for _, e := range story() {
		e.Repo = "secret/app"
		// Two of one id would be one of a renamed repository.
		e.Payload = bytes.ReplaceAll(e.Payload, []byte(`"id":1001`), []byte(`"id":2001`))
		l.append(e)
	}
	p := l.project(l.file(), "judge")
	ctx := t.Context()
	for scope, want := range map[string]int{"acme/*": 1, "ACME/app": 1, "*/*": 2, "other/*": 0} {
		filter := event.Filter{Repos: []string{scope}}
		pulls, _, err := p.Pulls(ctx, projection.PullQuery{Scope: filter, State: "all", Limit: 10})
		if err != nil || len(pulls) != want {
			t.Errorf("%s: %d pull requests, %v", scope, len(pulls), err)
		}
		turns, err := p.Turns(ctx, projection.PullQuery{Scope: filter, State: "all"})
		if err != nil || turns[verdict.TurnNobody] != want {
			t.Errorf("%s: turns %v, %v", scope, turns, err)
		}
		events, _, err := p.Events(ctx, projection.EventQuery{Scope: filter, Limit: 100})
		if err != nil || len(events) != want*len(story()) {
			t.Errorf("%s: %d events, %v", scope, len(events), err)
		}
		trends, err := p.Trends(ctx, filter, "", projection.Day, began, began)
		if err != nil || trends[0].Merged != want || trends[0].Rounds != 2*want {
			t.Errorf("%s: trends %+v, %v", scope, trends, err)
		}
		rules, err := p.Rules(ctx, projection.RuleQuery{Scope: filter}, began)
		findings := 0
		for _, r := range rules {
			findings += r.Findings
		}
		if err != nil || findings != want {
			t.Errorf("%s: rules %+v, %v", scope, rules, err)
		}
		fired := 0
		if len(rules) > 0 {
			over, err := p.RuleTrends(ctx, projection.RuleQuery{Scope: filter, Rule: rules[0].Rule, Bucket: projection.Day}, began, began)
			if err != nil || len(over) != 1 || len(over[0].Pulls) != want {
				t.Errorf("%s: over time %+v, %v", scope, over, err)
			}
			fired = over[0].Fired
		}
		if fired != want {
			t.Errorf("%s: %d findings of the rule over time", scope, fired)
		}
		if repos := p.Repos(filter); len(repos) != want {
			t.Errorf("%s: repositories %v", scope, repos)
		}
		sources, err := p.Sources(ctx, filter)
		events64 := int64(0)
		for _, s := range sources {
			events64 += s.Events
		}
		if err != nil || events64 != int64(want*len(story())) {
			t.Errorf("%s: sources %+v, %v", scope, sources, err)
		}
		if _, known, err := p.Pull(ctx, filter, "secret/app", 1); known != (want == 2) || err != nil {
			t.Errorf("%s: the other repository's is known: %v, %v", scope, known, err)
		}
	}
}
