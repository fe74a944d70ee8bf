package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"touchstone/relay/internal/examples"
)

// limitFiles limits the size of the relay's files, which has the same effect as a full disk.
func (p *process) limitFiles(t *testing.T, bytes uint64) {
	t.Helper()
	limits := unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}
	must(t, unix.Prlimit(p.command.Process.Pid, unix.RLIMIT_FSIZE, &limits, nil))
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	p := startRelay(t, buildRelay(t), newStore(t), "")
	endure(t, p, func() { p.limitFiles(t, 1) }, func() { p.limitFiles(t, unix.RLIM_INFINITY) }, "disk I/O error")
}

// If a small write still fits, but no webhook, the relay is not ready. Once it has stored a webhook, it logs
// that the store works again.
func TestDiskNearlyFull(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	p := startRelay(t, buildRelay(t), store, "")
	p.expect(t, 0, http.StatusAccepted)
	ahead, err := os.Stat(strings.TrimPrefix(store, "sqlite:") + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	large := examples.Example{Event: "push", Payload: fmt.Appendf(nil, `{"ref":"%s"}`, strings.Repeat("x", 200<<10))}
	send := func(want int) {
		t.Helper()
		if status, err := deliver(t, p.address, 1, large); err != nil || status != want {
			t.Fatalf("a webhook of 200 kB: %d, %v; want %d", status, err, want)
		}
	}
	p.limitFiles(t, uint64(ahead.Size())+100<<10)
	for range 3 {
		send(http.StatusServiceUnavailable)
		p.unready(t)
	}
	p.limitFiles(t, unix.RLIM_INFINITY)
	p.says(t, "/readyz", `"ready"`)
	send(http.StatusAccepted)
	p.kill()
	if log := p.log.String(); strings.Count(log, "not ready: ") != 1 ||
		strings.Count(log, `"message":"writing to the store works again"`) != 1 {
		t.Errorf("the log says:\n%s", log)
	}
}
