package process

import (
	"context"
	"errors"
	"fmt"
	"time"

	"touchstone/agent/engine"
)

// watch is one run from start to end. It runs on one goroutine, so the callbacks need no locks.
type watch struct {
	Command
	tree *tree
	// exited is closed when the child has ended; on Linux, when all its descendants have ended too.
	exited chan struct{}
	output *output
	report Report

	lines  lines
	stderr tail
	last   time.Time
	// alive is when the child was last known to be working.
	alive time.Time
	// printed counts the bytes of output.
	printed int64
	// broken is the error of Line, or says that there is too much output. After it, output is read and discarded.
	broken error
}

func (w *watch) run(ctx context.Context) error {
	defer closeAll(w.output.readers)
	stopped := w.listen(ctx)
	var left error
	if stopped != nil {
		left = w.stop()
	}
	if left == nil {
		// The child has ended, but its descendants have not and may hold the pipes open.
		left = w.tree.kill()
	}
	w.rest()
	switch {
	case w.report.Lingered && w.Over():
		stopped = nil
	case w.report.Lingered:
		w.report.Lingered = false
		stopped = engine.Errorf(engine.Idle, "%s went on only when it was stopped, %s after its answer", w.Args[0], lingering)
	}
	if stopped == nil {
		stopped = w.broken
	}
	w.tree.release()
	w.report.Stderr = w.stderr.String()
	if left != nil {
		return w.outlived(stopped, left)
	}
	return stopped
}

// outlived is the error of a run whose processes have not all ended. It is a crash, however the run ended
// otherwise: nothing may use what these processes may still be writing.
func (w *watch) outlived(stopped, left error) error {
	how := w.Args[0] + " ended"
	if stopped != nil {
		how = stopped.Error()
	}
	return &engine.Error{Class: engine.Crash, Message: fmt.Sprintf("%s, but %v", how, left), Err: stopped}
}

// errLingered stops a child that is over.
var errLingered = errors.New("it did not end")

// listen reads what the child writes until it ends (nil) or must be stopped.
func (w *watch) listen(ctx context.Context) error {
	w.last, w.alive = w.report.Started, w.report.Started
	deadline := time.NewTimer(w.Timeout)
	defer deadline.Stop()
	idle := time.NewTimer(w.IdleTimeout)
	defer idle.Stop()
	heartbeat := time.NewTicker(HeartbeatInterval)
	defer heartbeat.Stop()
	pieces := w.output.pieces
	var lingered <-chan time.Time
	for {
		select {
		case piece, more := <-pieces:
			if !more { // the child closed its output
				pieces = nil
				continue
			}
			w.alive = time.Now()
			idle.Reset(w.IdleTimeout)
			heartbeat.Reset(HeartbeatInterval)
			if w.take(piece); w.broken != nil {
				return w.broken
			}
			switch over := w.Over != nil && w.Over(); {
			case !over:
				lingered = nil
			case lingered == nil:
				lingered = time.After(lingering)
			}
		case <-w.exited:
			return nil
		case <-w.Alive:
			w.sign(idle)
			if lingered != nil {
				lingered = time.After(lingering)
			}
		case <-heartbeat.C:
			if w.Silence != nil {
				w.Silence(time.Since(w.last).Round(time.Second))
			}
		case <-idle.C:
			bound, meanwhile := w.IdleTimeout, ""
			if w.ToolTimeout > bound && w.Working != nil && w.Working() {
				bound, meanwhile = w.ToolTimeout, ", although one of its commands may have been running,"
			}
			if left := bound - time.Since(w.alive); left > 0 {
				idle.Reset(min(left, w.IdleTimeout))
				continue
			}
			select {
			case <-w.Alive: // this process was too busy to notice it
				w.sign(idle)
				continue
			default:
			}
			return engine.Errorf(engine.Idle, "%s printed nothing for %s%s and was stopped", w.Args[0], bound, meanwhile)
		case <-lingered:
			if w.Asking != nil && w.Asking() {
				lingered = time.After(lingering)
				continue
			}
			w.report.Lingered = true
			return errLingered
		case <-deadline.C:
			return engine.Errorf(engine.Timeout, "%s did not finish within %s and was stopped", w.Args[0], w.Timeout)
		case <-ctx.Done():
			return cancelled(ctx)
		}
	}
}

// sign records that the child is known to be working.
func (w *watch) sign(idle *time.Timer) {
	w.alive = time.Now()
	idle.Reset(w.IdleTimeout)
	if w.Signs != nil {
		w.Signs()
	}
}

// stop asks the child to end, and kills it with all its descendants if it takes longer than grace. The error
// says that not even that ended them.
func (w *watch) stop() error {
	w.tree.terminate()
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
			// A result that is printed on the way out still counts for the costs.
			w.take(piece)
		case <-w.exited:
			return nil
		case <-patience.C:
			if err := w.tree.kill(); err != nil {
				return err
			}
		}
	}
}

// rest reads what is left in the pipes of a dead child.
func (w *watch) rest() {
	w.output.expire(drain)
	for piece := range w.output.pieces {
		w.take(piece)
	}
	if w.broken == nil {
		w.broken = w.lines.end(nil, w.Line)
	}
}

func (w *watch) take(p piece) {
	w.last = time.Now()
	if w.report.FirstByte == 0 {
		w.report.FirstByte = w.last.Sub(w.report.Started)
	}
	w.printed += int64(len(p.data))
	switch {
	case w.broken == nil && w.MaxOutput > 0 && w.printed > w.MaxOutput:
		w.broken = engine.Errorf(engine.BadOutput, "%s printed more than %d MiB and was stopped", w.Args[0], w.MaxOutput>>20)
	case p.stderr:
		w.stderr.add(p.data)
	case w.broken == nil:
		w.broken = w.lines.add(p.data, w.Line)
	}
}
