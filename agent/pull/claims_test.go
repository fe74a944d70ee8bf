package pull

import (
	"testing"
	"time"

	"touchstone/agent/forge"
)

// A pending status in the name of the author's agent says until when it is at work, if it is its
// author's and a claim.
func TestOnlyAClaimOfItsAuthorSaysThatItIsBeingFixed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	claim := forge.Check{Name: forge.FixContext, By: forge.User{Login: "octocat"}, State: forge.CheckPending, At: at,
		URL: "https://github.com/acme/app/pull/1" + ClaimMark + "0a0b0c0d0e0f"}
	for name, c := range map[string]struct {
		change func(*forge.Check)
		want   time.Time
	}{
		"its author's claim":     {func(*forge.Check) {}, at.Add(ClaimLease)},
		"somebody else's":        {func(c *forge.Check) { c.By.Login = "mallory" }, time.Time{}},
		"of a review":            {func(c *forge.Check) { c.Name = forge.ReviewContext }, time.Time{}},
		"ended":                  {func(c *forge.Check) { c.State = forge.CheckSuccess }, time.Time{}},
		"a status without claim": {func(c *forge.Check) { c.URL = "https://github.com/acme/app/pull/1" }, time.Time{}},
	} {
		status := claim
		c.change(&status)
		pr := forge.PullRequest{Author: forge.User{Login: "octocat"}, Viewer: "judge", Statuses: []forge.Check{status}}
		if got := fixedElsewhere(pr); !got.Equal(c.want) {
			t.Errorf("%s: until %s, not %s", name, got, c.want)
		}
	}
}
