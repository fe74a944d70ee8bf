// Package faults logs in few lines what goes wrong for long or for many at once: a full disk may have the log on it, too.
package faults

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Log remembers the lines of the last minute. Any number of goroutines may use it; the zero Log is ready.
type Log struct {
	mu   sync.Mutex
	said map[line]time.Time
}

// line is a message and the text of its error.
type line struct{ message, cause string }

// maxCauses is how many different errors with the same message there are in a minute: a text may have the number of a
// connection in it.
const maxCauses = 10

// Write logs an error with a message, unless the same line was written in the last minute. Another error is logged at once.
func (l *Log) Write(ctx context.Context, level zerolog.Level, err error, message string) {
	if l.isNew(line{message, err.Error()}) {
		zerolog.Ctx(ctx).WithLevel(level).Err(err).Msg(message)
	}
}

// Answering is Write for an error met while answering a request, unless ctx has ended: then the client hung up, which says nothing
// about what failed.
func (l *Log) Answering(ctx context.Context, err error, message string) {
	if ctx.Err() == nil {
		l.Write(ctx, zerolog.ErrorLevel, err, message)
	}
}

func (l *Log) isNew(next line) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.said, func(_ line, at time.Time) bool { return time.Since(at) >= time.Minute })
	causes := 0
	for known := range l.said {
		if known.message == next.message {
			causes++
		}
	}
	if _, known := l.said[next]; known || causes >= maxCauses {
		return false
	}
	if l.said == nil {
		l.said = map[line]time.Time{}
	}
	l.said[next] = time.Now()
	return true
}
