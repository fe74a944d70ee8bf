package githubsim

import (
	"context"
	"sync"
)

// lanes runs background work: sequentially within a lane, concurrently across lanes. An idle lane costs no
// goroutine. Work queued before run waits for it.
type lanes struct {
	mu      sync.Mutex
	ctx     context.Context // run's; nil before it
	closed  bool            // run has ended, or is ending
	queued  map[string][]func(context.Context)
	active  map[string]bool
	pending int
	settled []chan struct{}
	workers sync.WaitGroup
}

// do queues work on a lane. It drops work after run has returned.
func (l *lanes) do(lane string, work func(context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if l.queued == nil {
		l.queued, l.active = map[string][]func(context.Context){}, map[string]bool{}
	}
	l.queued[lane] = append(l.queued[lane], work)
	l.pending++
	if l.ctx != nil {
		l.start(lane)
	}
}

// run lets the lanes work until ctx ends, and waits for running work.
func (l *lanes) run(ctx context.Context) {
	l.mu.Lock()
	l.ctx = ctx
	for lane := range l.queued {
		l.start(lane)
	}
	l.mu.Unlock()
	<-ctx.Done()
	l.mu.Lock()
	l.closed = true // so no worker starts while we wait for them
	l.mu.Unlock()
	l.workers.Wait()
}

// start starts a lane's worker, if there is none. The caller holds the lock.
func (l *lanes) start(lane string) {
	if l.active[lane] {
		return
	}
	l.active[lane] = true
	l.workers.Go(func() { l.drain(lane) })
}

func (l *lanes) drain(lane string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queued[lane]) > 0 && l.ctx.Err() == nil {
		work := l.queued[lane][0]
		l.queued[lane] = l.queued[lane][1:]
		l.mu.Unlock()
		work(l.ctx)
		l.mu.Lock()
		l.pending--
	}
	delete(l.queued, lane)
	delete(l.active, lane)
	if l.pending == 0 {
		for _, done := range l.settled {
			close(done)
		}
		l.settled = nil
	}
}

// settle waits until nothing is queued or running.
func (l *lanes) settle(ctx context.Context) error {
	l.mu.Lock()
	if l.pending == 0 {
		l.mu.Unlock()
		return nil
	}
	done := make(chan struct{})
	l.settled = append(l.settled, done)
	l.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
