package forge

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheClientTellsGitHubsTime(t *testing.T) {
	for name, test := range map[string]struct {
		apart, want time.Duration
	}{
		"as good as not at all":   {time.Second, 0},
		"this one ten minutes on": {10 * time.Minute, 10 * time.Minute},
		"this one an hour behind": {-time.Hour, -time.Hour},
		"this one years on":       {30_000 * time.Hour, 30_000 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := client(t, func(*http.Request) (*http.Response, error) {
					return answer(200, page("abc", then, noComments), "Date", time.Now().Add(-test.apart).UTC().Format(http.TimeFormat)), nil
				})
				if before := c.Now(); !before.Equal(time.Now()) {
					t.Errorf("before GitHub has answered it is %s", before)
				}
				if _, err := c.PullRequest(t.Context(), pull); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour)
				if ahead := time.Since(c.Now()); ahead != test.want {
					t.Errorf("this clock is %v ahead, want %v", ahead, test.want)
				}
			})
		})
	}
}

// TestGitHubsTimeDoesNotGoBackWithinASecond checks that the time never goes back, although GitHub's times are
// whole seconds: what is written within a second must not be later than what is read after it.
func TestGitHubsTimeDoesNotGoBackWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		last := time.Time{}
		for range 50 {
			github := time.Now().Add(10 * time.Minute).UTC()
			c.set(http.Header{"Date": {github.Format(http.TimeFormat)}}, time.Now())
			if now := c.now(); now.Before(last) || now.Sub(github).Abs() >= inexact {
				t.Fatalf("it is %s, and was %s, where GitHub's is %s", now, last, github)
			}
			time.Sleep(300 * time.Millisecond)
			last = c.now()
		}
	})
}
