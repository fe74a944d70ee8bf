package server

import (
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// maxFailures is how many bad tokens and signatures an address may send within one failureWindow before
	// it is answered 429 and no longer logged one by one.
	maxFailures   = 10
	failureWindow = time.Minute
	// maxFailing is how many addresses are counted separately; the others share one count.
	maxFailing = 4096
)

// failures counts unauthorized requests by address, in bounded memory.
//
// The count never blocks a valid token or signature, because senders share addresses. Any GitHub user can
// make GitHub's own machines send a webhook with a wrong signature, and behind a proxy all requests come from
// one address. Refusing an address as a whole would let strangers cut off all other clients.
type failures struct {
	mu     sync.Mutex
	since  time.Time
	counts map[netip.Prefix]int
}

// count adds a failure and returns how many the address has in this window, which began at since.
func (f *failures) count(address netip.Addr, now time.Time) (n int, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil || now.Sub(f.since) >= failureWindow {
		f.counts, f.since = map[netip.Prefix]int{}, now
	}
	key := network(address)
	if _, known := f.counts[key]; !known && len(f.counts) >= maxFailing {
		key = netip.Prefix{}
	}
	f.counts[key]++
	return f.counts[key], f.since
}

// network returns the network of one sender: an IPv4 address, or a /64 of IPv6, in which a sender can choose
// the other bits (RFC 6177).
func network(address netip.Addr) netip.Prefix {
	bits := 32
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // no address at all
	}
	return prefix
}

// refuseStranger answers an unauthorized request: 401 with the sentence, or 429 if its address has sent too
// many of them.
func (s *Server) refuseStranger(w http.ResponseWriter, r *http.Request, sentence string) {
	now := time.Now()
	n, since := s.failures.count(s.sender(r), now)
	log := zerolog.Ctx(r.Context()).Warn().Str("remote", r.RemoteAddr).Str("path", r.URL.Path)
	if n <= maxFailures {
		log.Str("cause", sentence).Msg("unauthorized request rejected")
		refuse(w, http.StatusUnauthorized, sentence)
		return
	}
	rest := since.Add(failureWindow).Sub(now)
	if n == maxFailures+1 {
		log.Stringer("for", rest).Msg("too many unauthorized requests from this address; no more of them are logged for now")
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(rest/time.Second)+1))
	w.Header().Set("Connection", "close")
	refuse(w, http.StatusTooManyRequests, "too many unauthorized requests from this address; "+sentence)
}
