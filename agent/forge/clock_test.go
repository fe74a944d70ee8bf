package forge

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestASnapshotTellsHowTheClocksDiffer(t *testing.T) {
	for name, test := range map[string]struct {
		apart, want time.Duration
	}{
		"as good as not at all":   {time.Second, 0},
		"this one ten minutes on": {10 * time.Minute, 10 * time.Minute},
		"this one an hour behind": {-time.Hour, -time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := client(t, func(*http.Request) (*http.Response, error) {
					return answer(200, page("abc", then, noComments), "Date", time.Now().Add(-test.apart).UTC().Format(http.TimeFormat)), nil
				})
				pr, err := c.PullRequest(t.Context(), pull)
				if err != nil || pr.ClockAhead != test.want {
					t.Errorf("%v ahead, %v; want %v", pr.ClockAhead, err, test.want)
				}
			})
		})
	}
}
