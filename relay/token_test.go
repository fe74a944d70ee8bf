package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchstone/relay/client"
	"touchstone/relay/event"
	"touchstone/relay/internal/examples"
	"touchstone/worktree/await"
)

// Two relays share a log and its tokens. When a third process revokes a token, its streams end on both
// relays, and the list says that it was used. Another test, with simulated time, checks that they end within
// five seconds.
func TestRevokedOnEveryRelay(t *testing.T) {
	t.Parallel()
	store, host := database(t)
	binary, address := buildRelay(t), "FIRESTORE_EMULATOR_HOST="+host
	tokens := func(words ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), binary, append([]string{"token", "--store", store}, words...)...)
		command.Env = append(os.Environ(), address)
		out, err := command.Output()
		if err != nil {
			t.Fatalf("touchstone-relay token %s: %v", words[0], err)
		}
		return strings.TrimSpace(string(out))
	}
	text := tokens("create", "--name", "laptop-1")
	relays := []*process{
		startRelay(t, binary, store, "", address),
		startRelay(t, binary, store, "", address),
	}
	reading, ended := make(chan string, len(relays)), make(chan error, len(relays))
	for _, p := range relays {
		go func() {
			c := client.Client{URL: "http://" + p.address, Token: text}
			ended <- c.Follow(t.Context(), client.Oldest, func(_ context.Context, m event.Message) error {
				if m.Event != nil {
					reading <- m.Event.Delivery
				}
				return nil
			})
		}()
	}
	relays[0].expect(t, 0, 202)
	for range relays {
		if got := <-reading; got != examples.Delivery(0) {
			t.Errorf("a subscriber got %s", got)
		}
	}

	tokens("revoke", strings.Split(text, "_")[1])
	deadline := time.After(await.Patience)
	for range relays {
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "401") {
				t.Errorf("a subscriber ended with %v", err)
			}
		case <-deadline:
			t.Fatal("the streams of a revoked token go on")
		}
	}
	if runtime.GOOS == "windows" {
		return // a relay that is killed notes nothing
	}
	for _, p := range relays {
		must(t, p.command.Process.Signal(syscall.SIGTERM))
		if err := p.command.Wait(); err != nil {
			t.Errorf("after SIGTERM: %v\n%s", err, p.log)
		}
	}
	used := regexp.MustCompile(`laptop-1 +subscriber +all +all +20\S+ \S+ +20\S+ \S+ +20\S+ \S+`)
	if list := tokens("list"); !used.MatchString(list) {
		t.Errorf("the list does not say that the token was used:\n%s", list)
	}
}
