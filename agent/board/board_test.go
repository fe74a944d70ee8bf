package board_test

import (
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
			"": `{"pulls":[{"repo":"acme/app","number":1,"author":"alice","round":2,"verdict":"APPROVE","open":{"critical":0,"nit":2},"ci":"pending","turn":"ci","waiting_on":[],"since":"2026-01-02T03:04:05Z","reason":"waiting for checks"},
				{"repo":"acme/other","number":7,"author":"bob","turn":"person","waiting_on":[]}],"next":"2"}`,
			"2": `{"pulls":[{"repo":"ACME/app","number":3,"author":"bob","turn":"person","waiting_on":["Alice"],"reason":"the quality bar \u001b[2J is lowered"},
				{"repo":"acme/app","number":4,"author":"bob","turn":"person","waiting_on":[]}],"next":""}`,
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
	if len(queue.Waiting) != 1 || len(queue.Mine) != 1 || len(queue.NeedsHuman) != 1 {
		t.Errorf("the queue is %+v", queue)
	}
	for _, want := range []string{"Waits for alice (1)\n  ACME/app#3", "acme/app#1  round 2, approved, 2 nit", "\uFFFD[2J"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
}
