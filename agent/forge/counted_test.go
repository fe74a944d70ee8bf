package forge_test

import (
	"testing"

	"touchstone/agent/forge"
	"touchstone/agent/githubsim"
)

func TestWhoseApprovalsCountIsReadFromWhatGitHubDecided(t *testing.T) {
	counted, ignored := forge.Counted{Known: true, Counts: true, Number: 1}, forge.Counted{Known: true, Number: 1}
	for name, test := range map[string]struct {
		rule   githubsim.Protection
		person bool // one approves as well
		stale  bool // a push comes after the approval
		want   forge.Counted
	}{
		"it counted":                        {rule: githubsim.Protection{Approvals: 1}, want: counted},
		"it counted for a ruleset":          {rule: githubsim.Protection{Approvals: 1, Ruleset: true}, want: counted},
		"it did not count":                  {rule: githubsim.Protection{Approvals: 1, PeopleOnly: true}, want: ignored},
		"it did not count for a ruleset":    {rule: githubsim.Protection{Approvals: 1, PeopleOnly: true, Ruleset: true}, want: ignored},
		"two are asked for, and one came":   {rule: githubsim.Protection{Approvals: 2}},
		"two are asked for, and two came":   {rule: githubsim.Protection{Approvals: 2}, person: true, want: counted},
		"a person's was enough":             {rule: githubsim.Protection{Approvals: 1, PeopleOnly: true}, person: true},
		"an owner's may be what is missing": {rule: githubsim.Protection{Approvals: 1, PeopleOnly: true, CodeOwners: []string{hubot}}},
		"it was of an older head":           {rule: githubsim.Protection{Approvals: 1, PeopleOnly: true}, stale: true},
		"nothing is asked for":              {},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, githubsim.RepoOptions{Protected: map[string]githubsim.Protection{"main": test.rule}})
			reviewer := w.App()
			if err := w.Install(reviewer.Login, "acme"); err != nil {
				t.Fatal(err)
			}
			client, _ := w.actingAs(reviewer)
			ref, sha := w.open("topic")
			review := forge.Review{SHA: sha, Event: "APPROVE", Body: "Good."}
			if _, err := forge.NewPoster(client).PostReview(t.Context(), ref, review); err != nil {
				t.Fatal(err)
			}
			if test.person {
				if _, err := w.post(ref, sha, "APPROVE", "Good."); err != nil {
					t.Fatal(err)
				}
			}
			if test.stale {
				w.commit("topic", map[string]string{"more.go": "package main\n"})
				w.Settle()
			}
			rules, err := client.Rules(t.Context(), app)
			if err != nil {
				t.Fatal(err)
			}
			if rules.CodeOwners != (len(test.rule.CodeOwners) > 0) {
				t.Errorf("the rules are %+v", rules)
			}
			if got, err := client.Counted(t.Context(), app, rules, reviewer.Login); err != nil || got != test.want {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}
