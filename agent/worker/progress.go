package worker

import (
	"context"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/activity"
	"touchstone/agent/engine"
)

// toolEvery is the shortest time between two logged tool calls; the others are logged at debug level.
const toolEvery = 30 * time.Second

// progress logs a session while it runs: each dimension that it begins, a tool call if nothing was logged for
// a while, and heartbeats while it is silent. Each line has the number of tool calls, the tokens used, and
// the time since the turn began.
func progress(ctx context.Context) func(engine.Progress) {
	log := zerolog.Ctx(ctx)
	tools, logged := 0, time.Duration(0)
	return func(p engine.Progress) {
		if p.Elapsed < logged {
			logged = 0 // another turn
		}
		level, text := zerolog.DebugLevel, p.Text
		switch p.Kind {
		case engine.ProgressDimension:
			activity.Phase(ctx, p.Text[strings.LastIndexByte(p.Text, ' ')+1:])
			level = zerolog.InfoLevel
		case engine.ProgressRetry:
			level = zerolog.InfoLevel
		case engine.ProgressHeartbeat:
			level, text = zerolog.InfoLevel, p.Waiting()
		case engine.ProgressTool:
			tools++
			if p.Elapsed-logged >= toolEvery {
				level = zerolog.InfoLevel
			}
		}
		if level == zerolog.InfoLevel {
			logged = p.Elapsed
		}
		log.WithLevel(level).Str("session", string(p.Kind)).Int("tools", tools).Int64("tokens", p.Used.Total()).
			Stringer("elapsed", p.Elapsed.Round(time.Millisecond)).Msg(text)
	}
}
