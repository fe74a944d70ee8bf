package forge

import (
	"net/http"
	"testing"
	"testing/synctest"
)

// A server that has no rulesets, or a plan that does not include them, requires nothing by them.
func TestRulesetsThatAreNotThereRequireNothing(t *testing.T) {
	for _, none := range []*http.Response{
		answer(404, `{"message":"Not Found"}`),
		answer(403, `{"message":"Upgrade to GitHub Pro or make this repository public to enable this feature."}`),
	} {
		synctest.Test(t, func(t *testing.T) {
			c := client(t, func(*http.Request) (*http.Response, error) { return none, nil })
			if checks, err := c.RequiredChecks(t.Context(), pull.Repo, "main"); len(checks) != 0 || err != nil {
				t.Errorf("%q, %v", checks, err)
			}
		})
	}
}
