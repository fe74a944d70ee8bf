package board_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"touchstone/agent/board"
	"touchstone/relay/client"
)

// TestTheRelaysPullRequestsAreAllRead has a relay give two pages.
func TestTheRelaysPullRequestsAreAllRead(t *testing.T) {
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pages := map[string]string{
			"": `{"pulls":[{"repo":"acme/app","number":1,"title":"Search\u0009notes","author":"alice","round":2,"verdict":"APPROVE","open":{"critical":0,"nit":2},"ci":"pending","turn":"ci","waiting_on":[],"since":"2026-01-02T03:04:05Z","reason":"waiting for CI: checks are running"},
				{"repo":"acme/other","number":7,"author":"bob","turn":"person","waiting_on":[]}],"next":"2"}`,
			"2": `{"pulls":[{"repo":"ACME/app","number":3,"author":"bob","turn":"person","waiting_on":["Alice"],"reason":"the quality bar \u001b[2J is lowered"},
				{"repo":"acme/app","number":4,"author":"bob","turn":"person","waiting_on":[]},
				{"repo":"acme/app","number":5,"author":"bob","turn":"reviewer","waiting_on":["alice","judge"]},
				{"repo":"acme/app","number":16,"author":"Alice","turn":"person","waiting_on":["walter"]},
				{"repo":"acme/app","number":17,"author":"bob","turn":"author","waiting_on":["bob"]}],"next":""}`,
		}
		if r.URL.Query().Get("state") != "open" || r.Header.Get("Authorization") != "Bearer rly_1" {
			t.Errorf("it is asked %s", r.URL)
		}
		w.Write([]byte(pages[r.URL.Query().Get("page")]))
	}))
	defer relay.Close()
	pulls, err := board.FromRelay(t.Context(), &client.Client{URL: relay.URL, Token: "rly_1"}, []string{"acme/app"})
	if err != nil {
		t.Fatal(err)
	}
	queue := board.QueueOf("alice", pulls)
	var text strings.Builder
	if err := queue.Write(&text); err != nil {
		t.Fatal(err)
	}
	numbers := func(pulls []board.Pull) (all []int) {
		for _, p := range pulls {
			all = append(all, p.Number)
		}
		return all
	}
	// What others wait for a person of theirs, or for each other, is not alice's, nor is it hers to let pass what is held.
	if got := fmt.Sprint(numbers(queue.Waiting), numbers(queue.Mine), numbers(queue.NeedsHuman)); got != "[3 5] [1 16] [4]" {
		t.Errorf("what waits for alice, is hers, and needs a person: %s", got)
	}
	for _, want := range []string{"Waits for alice (2)\n  ACME/app#3 ", "  acme/app#1   Search notes (round 2, approved, 2 nit, CI pending)\n",
		"ci for ", ": checks are running\n", "\uFFFD[2J"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
}
