package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/relay/client"
	"touchstone/relay/internal/examples"
)

// status asks a running relay for a path.
func status(t *testing.T, address, path string) int {
	t.Helper()
	response, err := http.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// With a disk that takes no more, webhooks are refused and readiness says so; with room
// again both recover without a restart, and what was refused was not stored.
func TestDiskFull(t *testing.T) {
	p := startRelay(t, buildRelay(t), filepath.Join(t.TempDir(), "relay.db"), "")
	all := examples.All(t)
	limit := func(bytes uint64) {
		limits := unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}
		if err := unix.Prlimit(p.command.Process.Pid, unix.RLIMIT_FSIZE, &limits, nil); err != nil {
			t.Fatal(err)
		}
	}
	send := func(i, want int) {
		t.Helper()
		if got, err := deliver(t, p.address, i, all[i]); err != nil || got != want {
			t.Fatalf("example %d was answered %d, %v; want %d", i, got, err, want)
		}
	}
	send(0, http.StatusAccepted)
	limit(1)
	for i := range 20 {
		send(1+i, http.StatusServiceUnavailable)
	}
	if ready, alive := status(t, p.address, "/readyz"), status(t, p.address, "/healthz"); ready != http.StatusServiceUnavailable || alive != http.StatusOK {
		t.Errorf("with a full disk: ready %d, alive %d", ready, alive)
	}
	limit(unix.RLIM_INFINITY)
	if ready := status(t, p.address, "/readyz"); ready != http.StatusOK {
		t.Errorf("with room again: ready %d", ready)
	}
	send(1, http.StatusAccepted)
	events := follow(t, p.address, client.Oldest, 2)
	if events[1].Delivery != examples.Delivery(1) || events[1].ID.Seq != 2 {
		t.Errorf("behind the first event stands %s, delivery %s", events[1].ID, events[1].Delivery)
	}
	p.kill()
	if lines := strings.Count(p.log.String(), "webhook not stored"); lines == 0 || lines > 2 {
		t.Errorf("20 refusals made %d log lines:\n%s", lines, p.log)
	}
}
