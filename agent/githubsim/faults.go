package githubsim

import (
	"context"
	"net/http"
	"time"

	"touchstone/worktree/steps"
)

// Drop is whether the connection of a request is cut, and when.
type Drop int

const (
	// KeepConnection answers normally.
	KeepConnection Drop = iota
	// DropBefore cuts the connection without executing the request.
	DropBefore
	// DropAfter executes the request and then cuts the connection, so the caller cannot know that it was
	// executed.
	DropAfter
)

// Fault is what happens to one request. The zero value lets it pass.
type Fault struct {
	// Status, if not zero, is the response's status instead, with Retry-After if that is positive (rounded up
	// to seconds).
	Status     int
	RetryAfter time.Duration
	Drop       Drop
	// Done, if set, is called after the request was executed or skipped, and before the connection is cut.
	Done func()
}

// Faults are misbehaviours of the whole simulator. Counts go down as they are used.
type Faults struct {
	// NullMergeable answers this many reads of a pull request as if its
	// mergeability were still being computed.
	NullMergeable int
	// MoveHead and MoveBase make another login push to the head or the base of a pull request right before this
	// many of its merges.
	MoveHead int
	MoveBase int
	// DuplicateDeliveries sends this many webhooks twice; LoseDeliveries drops this many after recording them
	// as failed.
	DuplicateDeliveries int
	LoseDeliveries      int
	// ShuffleDeliveries holds back each hook's webhooks until there are this many, and then sends them in
	// reverse order. Zero sends the held ones.
	ShuffleDeliveries int
	// HoldMergeQueue keeps merge queues from merging.
	HoldMergeQueue bool
	// DeliveryDelayMS delays each webhook by this many milliseconds.
	DeliveryDelayMS int
}

// SetFaults replaces the faults.
func (s *Sim) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
	if f.ShuffleDeliveries == 0 {
		s.releaseHeld()
	}
	for _, r := range s.repos {
		s.workQueue(r)
	}
}

// Intercept makes decide choose the fault of every request before it is executed (REST, GraphQL and git). login
// is "" without a valid token. decide runs without any lock, so it may use the Sim. Nil lets everything pass.
func (s *Sim) Intercept(decide func(login string, r *http.Request) Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = decide
}

func (s *Sim) nextFault(login string, r *http.Request) Fault {
	s.mu.Lock()
	decide := s.intercept
	s.mu.Unlock()
	if decide == nil {
		return Fault{}
	}
	return decide(login, r)
}

// refusal returns the error for a fault with a status.
func (f Fault) refusal() error {
	if f.Status == http.StatusForbidden || f.Status == http.StatusTooManyRequests {
		return &refusal{
			status: f.Status, message: "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
			docs: "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits",
		}
	}
	return refuse(f.Status, "%s", http.StatusText(f.Status))
}

// spendFault decrements a count, and reports whether it was positive.
func spendFault(count *int) bool {
	if *count <= 0 {
		return false
	}
	*count--
	return true
}

// moveBeforeMerge simulates a person who pushes at the worst moment.
func (s *Sim) moveBeforeMerge(ctx context.Context, p *pull) {
	move := func(r *repo, branch string) {
		steps.Got(r.git.Write(ctx, branch, r.refs["refs/heads/"+branch], "Somebody Else <else@example.com>",
			"Push at the worst moment", map[string]string{"moved.txt": s.Now().String() + "\n"}))
	}
	if spendFault(&s.faults.MoveHead) {
		move(p.headRepo, p.headRef)
		s.noticeRefs(ctx, p.headRepo, p.author)
	} else if spendFault(&s.faults.MoveBase) {
		// Not noticed yet: the merge detects the push when it moves the ref.
		move(p.repo, p.baseRef)
	}
}
