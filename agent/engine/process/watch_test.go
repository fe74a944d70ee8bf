package process

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"touchstone/agent/engine"
)

// TestSilenceIsToldUntilTheChildCountsAsIdle lets a child be silent on a clock that costs no time.
func TestSilenceIsToldUntilTheChildCountsAsIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pieces := make(chan piece)
		var beats []time.Duration
		started := time.Now()
		w := &watch{
			Command: Command{
				Args: []string{"model"}, Timeout: time.Hour, IdleTimeout: 70 * time.Second,
				Line:    func([]byte) error { return nil },
				Silence: func(since time.Duration) { beats = append(beats, since) },
			},
			output: &output{pieces: pieces},
			report: Report{Started: started},
		}
		go func() {
			<-time.After(40 * time.Second)
			pieces <- piece{data: []byte("a byte"), stderr: true}
		}()
		err := w.listen(context.Background())
		var failure *engine.Error
		if !errors.As(err, &failure) || failure.Class != engine.Idle {
			t.Errorf("error = %v; want an idle child", err)
		}
		if want := []time.Duration{30 * time.Second, 30 * time.Second, 60 * time.Second}; !slices.Equal(beats, want) {
			t.Errorf("heartbeats after a silence of %v; want %v", beats, want)
		}
		if elapsed := time.Since(started); elapsed != 110*time.Second {
			t.Errorf("stopped after %s; want 70 seconds after the byte at 40", elapsed)
		}
		if w.report.FirstByte != 40*time.Second {
			t.Errorf("first byte after %s", w.report.FirstByte)
		}
	})
}

// TestChildMayBeSilentWhileItsToolWorks lets a child be silent for longer while a program of its own works, and no
// longer than that; what ends the work shows.
func TestChildMayBeSilentWhileItsToolWorks(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for name, test := range map[string]struct {
		// ends is when the work ends, which Alive shows.
		ends, want time.Duration
	}{
		"ends":  {5*minute + 30*time.Second, 6*minute + 30*time.Second},
		"hangs": {time.Hour, 10 * minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				alive, started := make(chan struct{}, 1), time.Now()
				time.AfterFunc(test.ends, func() { alive <- struct{}{} })
				w := &watch{
					Command: Command{
						Args: []string{"model"}, Timeout: time.Hour, IdleTimeout: minute, Alive: alive, ToolTimeout: 10 * minute,
						Working: func() bool { return time.Since(started) < test.ends },
					},
					output: &output{pieces: make(chan piece)},
					report: Report{Started: started},
				}
				err := w.listen(t.Context())
				var failure *engine.Error
				if elapsed := time.Since(started); !errors.As(err, &failure) || failure.Class != engine.Idle || elapsed != test.want {
					t.Errorf("%v after %s; want an idle child after %s", err, elapsed, test.want)
				}
			})
		})
	}
}

// TestASignOfLifeIsHeardFirst where this process comes to hear of it only when the patience is at
// its end too.
func TestASignOfLifeIsHeardFirst(t *testing.T) {
	t.Parallel()
	alive := make(chan struct{}, 50)
	for range cap(alive) {
		alive <- struct{}{}
	}
	w := &watch{
		Command: Command{Args: []string{"model"}, Timeout: time.Hour, IdleTimeout: 0, Alive: alive},
		output:  &output{pieces: make(chan piece)},
		report:  Report{Started: time.Now()},
	}
	var failure *engine.Error
	if err := w.listen(t.Context()); !errors.As(err, &failure) || failure.Class != engine.Idle || len(alive) > 0 {
		t.Errorf("%v with %d signs of life unheard", err, len(alive))
	}
}
