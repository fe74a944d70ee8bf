package daemon

import (
	"context"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"touchstone/agent/activity"
	"touchstone/agent/engine"
)

// toolEvery is how often a call of a tool is told at the most; the others are logged at debug
// level.
const toolEvery = 30 * time.Second

// Progress logs a session as it goes: each dimension that it begins, what it does if nothing
// was told for a while, and that it is silent. Each line has how many tools were called, how
// many tokens were used and what time has passed in the turn.
func Progress(ctx context.Context) func(engine.Progress) {
	log := zerolog.Ctx(ctx)
	tools, told := 0, time.Duration(0)
	return func(p engine.Progress) {
		if p.Elapsed < told {
			told = 0 // another turn
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
			if p.Elapsed-told >= toolEvery {
				level = zerolog.InfoLevel
			}
		}
		if level == zerolog.InfoLevel {
			told = p.Elapsed
		}
		log.WithLevel(level).Str("session", string(p.Kind)).Int("tools", tools).Int64("tokens", p.Used.Total()).
			Stringer("elapsed", p.Elapsed.Round(time.Millisecond)).Msg(text)
	}
}
