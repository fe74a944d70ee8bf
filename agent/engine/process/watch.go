package process

import (
	"context"
	"fmt"
	"time"

	"touchstone/agent/engine"
)

// watch is one run from start to end. All of it happens on one goroutine, so
// that the callbacks need no locks.
type watch struct {
	Command
	child  *child
	output *output
	report Report

	lines  lines
	stderr tail
	last   time.Time
	// alive is when the child was last not idle.
	alive time.Time
	// broken is what Line returned; after it, output is only read away.
	broken error
}

func (w *watch) run(ctx context.Context) error {
	defer w.output.closeReaders()
	stopped := w.listen(ctx)
	var left error
	if stopped != nil {
		left = w.stop()
	}
	if left == nil {
		// The child has ended; what it left behind has not, and may hold the pipes.
		left = w.child.tree.kill()
	}
	w.rest()
	if stopped == nil {
		stopped = w.broken
	}
	w.child.tree.release()
	w.report.Stderr = w.stderr.String()
	w.report.LongLines = w.lines.dropped
	if left != nil {
		return w.outlived(stopped, left)
	}
	return stopped
}

// outlived is why a run whose processes are not gone is over. It is a crash however it ended
// otherwise: nothing may be made of what these may still be writing.
func (w *watch) outlived(stopped, left error) error {
	how := w.Args[0] + " ended"
	if stopped != nil {
		how = stopped.Error()
	}
	return &engine.Error{Class: engine.Crash, Message: fmt.Sprintf("%s, but %v", how, left), Err: stopped}
}

// listen takes what the child writes, until it ends (nil) or has to be stopped.
func (w *watch) listen(ctx context.Context) error {
	w.last, w.alive = w.report.Started, w.report.Started
	deadline := time.NewTimer(w.Timeout)
	defer deadline.Stop()
	idle := time.NewTimer(w.IdleTimeout)
	defer idle.Stop()
	heartbeat := time.NewTicker(HeartbeatInterval)
	defer heartbeat.Stop()
	pieces := w.output.pieces
	for {
		select {
		case piece, more := <-pieces:
			if !more { // it has let go of its output
				pieces = nil
				continue
			}
			w.alive = time.Now()
			idle.Reset(w.IdleTimeout)
			heartbeat.Reset(HeartbeatInterval)
			if w.take(piece); w.broken != nil {
				return w.broken
			}
		case <-w.child.exited:
			return nil
		case <-w.Alive:
			w.alive = time.Now()
			idle.Reset(w.IdleTimeout)
		case <-heartbeat.C:
			if w.Silence != nil {
				w.Silence(time.Since(w.last).Round(time.Second))
			}
		case <-idle.C:
			bound, meanwhile := w.IdleTimeout, ""
			if w.ToolTimeout > bound && w.Working != nil && w.Working() {
				bound, meanwhile = w.ToolTimeout, ", while a command of its own may have run,"
			}
			if left := bound - time.Since(w.alive); left > 0 {
				idle.Reset(min(left, w.IdleTimeout))
				continue
			}
			select {
			case <-w.Alive: // which this process was too busy to notice
				w.alive = time.Now()
				idle.Reset(w.IdleTimeout)
				continue
			default:
			}
			return engine.Errorf(engine.Idle, "%s printed nothing for %s%s and was stopped", w.Args[0], bound, meanwhile)
		case <-deadline.C:
			return engine.Errorf(engine.Timeout, "%s was not done after %s and was stopped", w.Args[0], w.Timeout)
		case <-ctx.Done():
			return cancelled(ctx)
		}
	}
}

// stop asks the child to end, and kills it with all its descendants if it
// takes longer than the grace; the error says that not even that has ended them.
func (w *watch) stop() error {
	w.child.tree.terminate()
	patience := time.NewTimer(grace)
	defer patience.Stop()
	pieces := w.output.pieces
	for {
		select {
		case piece, more := <-pieces:
			if !more {
				pieces = nil
				continue
			}
			// A result printed on the way out still counts for the books.
			w.take(piece)
		case <-w.child.exited:
			return nil
		case <-patience.C:
			if err := w.child.tree.kill(); err != nil {
				return err
			}
		}
	}
}

// rest takes what is still in the pipes of a dead child.
func (w *watch) rest() {
	w.output.expire(drain)
	for piece := range w.output.pieces {
		w.take(piece)
	}
	if w.broken == nil {
		w.broken = w.lines.end(w.Line)
	}
}

func (w *watch) take(p piece) {
	w.last = time.Now()
	if w.report.FirstByte == 0 {
		w.report.FirstByte = w.last.Sub(w.report.Started)
	}
	switch {
	case p.stderr:
		w.stderr.add(p.data)
	case w.broken == nil:
		w.broken = w.lines.add(p.data, w.Line)
	}
}
