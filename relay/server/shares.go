package server

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// shares divides a limited resource of the relay, memory or connections, among the networks of its peers.
// While there is room, a network may take any amount. When there is none, the network that holds most loses
// what it took first, so that a stranger who takes everything cannot keep out a network that wants less.
type shares struct {
	limit int64
	// grace is how long a claim is safe from a network that would then have as much as the claim's own.
	grace time.Duration

	mu      sync.Mutex
	used    int64
	holders map[netip.Prefix]*holder
	entered int64 // number of claims so far
}

// holder is what one network has taken.
type holder struct {
	amount int64
	claims list.List // of *claim; the oldest first
	// reading is for the reads: it holds as many of the claims as read now.
	reading chan struct{}
}

// claim is what one connection or request has taken. The shares' mu guards it.
type claim struct {
	shares  *shares
	network netip.Prefix
	holder  *holder
	place   *list.Element // nil once it is given back or lost
	number  int64
	begun   time.Time
	amount  int64
	lost    bool
	// lose makes the owner give up. It is called at most once, and must neither block nor call shares.
	lose func()
}

func newShares(limit int64, grace time.Duration) *shares {
	return &shares{limit: limit, grace: grace, holders: map[netip.Prefix]*holder{}}
}

// enter begins a claim of zero. The caller has to call leave.
func (s *shares) enter(address netip.Addr, lose func()) *claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := network(address)
	h := s.holders[key]
	if h == nil {
		h = &holder{reading: make(chan struct{}, maxReading-1)}
		s.holders[key] = h
	}
	s.entered++
	c := &claim{shares: s, network: key, holder: h, number: s.entered, begun: time.Now(), lose: lose}
	c.place = h.claims.PushBack(c)
	return c
}

// take changes the claim's amount, and reports whether it could.
func (c *claim) take(amount int64) bool {
	s := c.shares
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.place == nil {
		return false
	}
	more := amount - c.amount
	for s.used+more > s.limit {
		loser := s.loser(c, more)
		if loser == nil {
			return false
		}
		loser.lost = true
		s.remove(loser)
		loser.lose()
	}
	s.used, c.holder.amount, c.amount = s.used+more, c.holder.amount+more, amount
	return true
}

// loser returns the claim that has to make room. That is the oldest of the network that has most, if that
// network has more than c's would have, or as much and the grace is over; otherwise the oldest of c's own
// network, once its grace is over.
func (s *shares) loser(c *claim, more int64) *claim {
	var most *claim
	for _, h := range s.holders {
		oldest := h.oldestBut(c)
		if oldest != nil && (most == nil || h.amount > most.holder.amount || h.amount == most.holder.amount && oldest.number < most.number) {
			most = oldest
		}
	}
	for _, candidate := range []*claim{most, c.holder.oldestBut(c)} {
		if candidate == nil {
			continue
		}
		want := c.holder.amount + more
		if candidate.holder != c.holder && candidate.holder.amount > want {
			return candidate
		}
		if (candidate.holder == c.holder || candidate.holder.amount == want) && time.Since(candidate.begun) >= s.grace {
			return candidate
		}
	}
	return nil
}

// oldestBut returns the oldest claim with an amount, except c.
func (h *holder) oldestBut(c *claim) *claim {
	for e := h.claims.Front(); e != nil; e = e.Next() {
		if other := e.Value.(*claim); other != c && other.amount > 0 {
			return other
		}
	}
	return nil
}

// leave gives back what the claim has. Further calls do nothing.
func (c *claim) leave() {
	c.shares.mu.Lock()
	defer c.shares.mu.Unlock()
	c.shares.remove(c)
}

func (s *shares) remove(c *claim) {
	if c.place == nil {
		return
	}
	s.used -= c.amount
	c.holder.amount -= c.amount
	c.holder.claims.Remove(c.place)
	if c.holder.claims.Len() == 0 {
		delete(s.holders, c.network)
	}
	c.place = nil
}

// wasLost reports whether others took the claim's room.
func (c *claim) wasLost() bool {
	c.shares.mu.Lock()
	defer c.shares.mu.Unlock()
	return c.lost
}
