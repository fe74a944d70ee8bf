package server

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// asking makes addresses take from shares, and records who lost what.
type asking struct {
	t      *testing.T
	shares *shares
	lost   []string
}

func (a *asking) take(name, address string, amount int64) (*claim, bool) {
	c := a.shares.enter(netip.MustParseAddr(address), func() { a.lost = append(a.lost, name) })
	return c, c.take(amount)
}

func (a *asking) expect(when string, want ...string) {
	a.t.Helper()
	if fmt.Sprint(a.lost) != fmt.Sprint(want) {
		a.t.Errorf("%s, %v lost, want %v", when, a.lost, want)
	}
	a.lost = nil
}

// The address that has taken most loses first, its oldest claim first; one that takes little loses nothing.
func TestLargestTakerIsDroppedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asking{t: t, shares: newShares(100, time.Second)}
		for i := range 10 {
			a.take(fmt.Sprint("greedy ", i), "192.0.2.1", 9)
		}
		a.take("modest", "192.0.2.2", 10)
		a.expect("while there is room")
		if _, ok := a.take("webhook", "192.0.2.3", 20); !ok {
			t.Error("who wants less than others have gets nothing")
		}
		a.expect("with a small one more", "greedy 0", "greedy 1", "greedy 2")
		if _, ok := a.take("greedy 10", "192.0.2.1", 9); ok {
			t.Error("who has most gets more")
		}
		if _, ok := a.take("large", "192.0.2.4", 90); ok {
			t.Error("who wants most gets it")
		}
		a.expect("with too much")
	})
}

// A whole IPv6 network is one holder: a sender with 2^64 addresses has one share.
func TestSharesAreOfNetworks(t *testing.T) {
	a := &asking{t: t, shares: newShares(10, 0)}
	for i := range 9 {
		a.take(fmt.Sprint("a", i), fmt.Sprintf("2001:db8::%d", i+1), 1)
	}
	a.take("b", "2001:db8:0:1::1", 1)
	if _, ok := a.take("c", "2001:db8:0:2::1", 1); !ok {
		t.Error("another network gets nothing")
	}
	a.expect("with another network", "a0")
}

// Many networks with as much each keep a newcomer out for no longer than the grace, and a network that is
// alone makes room for its own new claims.
func TestEqualsGiveWayAfterTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asking{t: t, shares: newShares(10, time.Second)}
		for i := range 10 {
			a.take(fmt.Sprint(i), fmt.Sprintf("192.0.2.%d", i), 1)
		}
		if _, ok := a.take("early", "198.51.100.1", 1); ok {
			t.Error("an equal loses within the grace")
		}
		time.Sleep(time.Second)
		c, ok := a.take("late", "198.51.100.1", 1)
		if !ok {
			t.Error("no equal loses after the grace")
		}
		a.expect("after the grace", "0")
		c.leave()
		c.leave()
		if len(a.shares.holders) != 10 { // 9, and the one that got nothing and has not left
			t.Errorf("%d networks are remembered", len(a.shares.holders))
		}
		if a.shares.used != 9 {
			t.Errorf("%d are taken", a.shares.used)
		}
		if c.take(1) || c.wasLost() {
			t.Error("who has left takes more, or has lost something")
		}
	})
}
