package server

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

func TestFailuresByAddress(t *testing.T) {
	var f failures
	begin := time.Unix(1_700_000_000, 0)
	for i, step := range []struct {
		address string
		after   time.Duration
		want    int
	}{
		{"192.0.2.1", 0, 1},
		{"192.0.2.1", time.Second, 2},
		{"192.0.2.2", time.Second, 1},
		{"2001:db8::1", time.Second, 1},
		{"2001:db8::ffff:1", time.Second, 2}, // the same network
		{"2001:db8:0:1::1", time.Second, 1},
		{"192.0.2.1", failureWindow - 1, 3},
		{"192.0.2.1", failureWindow, 1}, // a new window
	} {
		n, since := f.count(netip.MustParseAddr(step.address), begin.Add(step.after))
		if n != step.want {
			t.Errorf("step %d, %s: %d failures, want %d", i, step.address, n, step.want)
		}
		if left := since.Add(failureWindow).Sub(begin.Add(step.after)); left <= 0 || left > failureWindow {
			t.Errorf("step %d, %s: the window lasts another %s", i, step.address, left)
		}
	}
	if n, _ := f.count(netip.Addr{}, begin); n != 1 {
		t.Errorf("no address: %d failures", n)
	}
}

// However many addresses there are, the memory is bounded, and known addresses keep their own count.
func TestFailuresAreBounded(t *testing.T) {
	var f failures
	now := time.Unix(1_700_000_000, 0)
	for i := range uint32(4 * maxFailing) {
		f.count(netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, i))), now)
	}
	if len(f.counts) > maxFailing+1 {
		t.Errorf("%d addresses are kept", len(f.counts))
	}
	if n, _ := f.count(netip.AddrFrom4([4]byte{}), now); n != 2 {
		t.Errorf("the first address has %d failures", n)
	}
	if n, _ := f.count(netip.MustParseAddr("203.0.113.1"), now); n <= maxFailures {
		t.Errorf("one of too many addresses has %d failures", n)
	}
}
