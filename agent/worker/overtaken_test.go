package worker

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"touchstone/agent/config"
	"touchstone/agent/e2e/loopback"
	"touchstone/agent/forge"
	"touchstone/verdict/decide"
	"touchstone/worktree/pause"
)

// lagging is a network on which GitHub's API, but not its git, stays behind: what was asked
// before it was frozen is answered as it was then.
type lagging struct {
	mu     sync.Mutex
	frozen bool
	said   map[string]http.Response
	bodies map[string][]byte
}

func (l *lagging) RoundTrip(r *http.Request) (*http.Response, error) {
	var asked []byte
	if r.Body != nil {
		var err error
		if asked, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(asked))
	}
	key := r.Method + r.URL.String() + string(asked)
	l.mu.Lock()
	defer l.mu.Unlock()
	if answer, ok := l.said[key]; ok && l.frozen {
		answer.Body = io.NopCloser(bytes.NewReader(l.bodies[key]))
		return &answer, nil
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	l.said[key], l.bodies[key] = *answer, body
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

// TestAnActThatIsOvertakenAgainAndAgainIsAFailure: as long as GitHub shows what it showed
// before, each look would buy another session that cannot be pushed.
func TestAnActThatIsOvertakenAgainAndAgainIsAFailure(t *testing.T) {
	t.Parallel()
	g, pr := objected(t)
	a := authorOf(t, g, func(asked loopback.Asked) (string, error) {
		return "Done.", os.WriteFile(filepath.Join(asked.Dir, "code.txt"), []byte("safe()\n"), 0o600)
	})
	configure(a, func(c *config.Config) { c.Rounds.Backoff, c.Author.Pause = config.Duration(10*time.Millisecond), 0 })
	network := &lagging{said: map[string]http.Response{}, bodies: map[string][]byte{}}
	client, err := forge.New(forge.Config{APIURL: g.URL + "/api/v3/", Token: "token-of-" + loopback.Author, Version: "test",
		Transport: network})
	if err != nil {
		t.Fatal(err)
	}
	a.Read, a.Author.Read = client, client
	if action := decided(t, g, a, pr); action.Kind != decide.Fix {
		t.Fatalf("it comes to %+v", action)
	}
	g.Commit("topic", "My own idea", map[string]string{"mine.txt": "mine\n"})
	network.frozen = true
	fixes := 0
	for range 100 {
		pr, action, err := a.Look(t.Context(), pr.Ref)
		if err != nil {
			t.Fatal(err)
		}
		switch action.Kind {
		case decide.Fix:
			fixes++
			if step, err := a.Act(t.Context(), pr, action); !Overtaken(err) {
				t.Fatalf("it is fixed: %+v, %v", step, err)
			}
		case decide.Wait:
			pause.For(t.Context(), action.Recheck)
		case decide.Escalate:
			if fixes != 1+a.Config().Rounds.Attempts {
				t.Errorf("it was tried %d times before a person is called", fixes)
			}
			return
		}
	}
	t.Errorf("nobody is called, and it was tried %d times", fixes)
}
