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
	"touchstone/verdict/decide"
)

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
