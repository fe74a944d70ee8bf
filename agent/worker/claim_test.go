package worker

import (
	"context"
	"crypto/ed25519"
	"testing"
	"testing/synctest"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/journal"
	"touchstone/agent/pull"
	"touchstone/verdict/decide"
)

// A pending status in the name of the author's agent says until when it is at work, if it is its
// author's and a claim.
func TestOnlyAClaimOfItsAuthorSaysThatItIsBeingFixed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	claim := forge.Check{Name: forge.FixContext, By: forge.User{Login: "octocat"}, State: forge.CheckPending, At: at,
		URL: "https://github.com/acme/app/pull/1" + pull.ClaimMark + "0a0b0c0d0e0f"}
	for name, c := range map[string]struct {
		change func(*forge.Check)
		want   time.Time
	}{
		"its author's claim":     {func(*forge.Check) {}, at.Add(pull.ClaimLease)},
		"somebody else's":        {func(c *forge.Check) { c.By.Login = "mallory" }, time.Time{}},
		"of a review":            {func(c *forge.Check) { c.Name = forge.ReviewContext }, time.Time{}},
		"ended":                  {func(c *forge.Check) { c.State = forge.CheckSuccess }, time.Time{}},
		"a status without claim": {func(c *forge.Check) { c.URL = "https://github.com/acme/app/pull/1" }, time.Time{}},
	} {
		status := claim
		c.change(&status)
		pr := forge.PullRequest{Author: forge.User{Login: "octocat"}, Viewer: "judge", Statuses: []forge.Check{status}}
		if got := pull.FixedElsewhere(pr); !got.Equal(c.want) {
			t.Errorf("%s: until %s, not %s", name, got, c.want)
		}
	}
}

// reported are the statuses of one commit.
type reported []forge.Check

// Report implements Reporter.
func (r *reported) Report(_ context.Context, _ forge.Repo, _ string, s forge.CommitStatus) error {
	*r = append(*r, forge.Check{Name: s.Context, By: forge.User{Login: "judge"}, State: s.State, URL: s.URL, At: time.Now()})
	return nil
}

// Reported implements Reporter.
func (r *reported) Reported(context.Context, forge.Repo, string) ([]forge.Check, error) {
	return *r, nil
}

// TestAClaimIsNotRenewedForEver checks that a machine renews its claim only for as long as a session may
// take: GitHub accepts 1,000 statuses per commit.
func TestAClaimIsNotRenewedForEver(t *testing.T) {
	j, err := journal.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var written reported
		a := &Agent{Role: decide.Reviewer, Login: "judge", Config: config.NewLive(config.Default(), nil).Config, Journal: j, Key: key,
			Report: &written}
		release, err := a.claim(t.Context(), forge.PullRequest{Ref: ref, Viewer: "judge"}, decide.Action{Kind: decide.Review})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		if len(written) != 1+maxRenewals || maxShown+3*(1+maxRenewals) >= 1000 {
			t.Errorf("%d statuses of one claim", len(written))
		}
		release()
	})
}
