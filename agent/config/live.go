package config

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Overlay changes what the file says about engines, such as by the choices of a relay's
// administrators. It has to leave alone what it is given and give back what passes Validate.
type Overlay interface {
	Apply(Engine) Engine
}

// Live holds the settings in force while an agent runs: those of the file as it is now, as
// far as they can change, under an overlay. Its methods may be called from several
// goroutines at once.
type Live struct {
	overlay Overlay

	mu   sync.Mutex
	file Config
}

// NewLive begins with settings that pass Validate. Overlay may be nil.
func NewLive(c Config, overlay Overlay) *Live { return &Live{overlay: overlay, file: c} }

// File is what the file says.
func (l *Live) File() Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file
}

// Config is what holds now. Callers ask for it when they begin something, and keep to the answer
// until that is done.
func (l *Live) Config() Config {
	c := l.File()
	if l.overlay != nil {
		own := c.Engine
		c.Engine = l.overlay.Apply(own)
		c.Engine.Own = &own
	}
	return c
}

// lookEvery is the time between two looks at the file.
const lookEvery = time.Second

// Follow takes over what changes in the file, until the context ends, once two looks have found it
// the same: an editor may write it in pieces. Load reads the settings anew and says why they cannot
// work; those there were hold on then, and the log tells, as it tells of settings that hold from
// the next start on only. A file that is gone or empty cannot work where there was one: its
// defaults would allow what was forbidden.
func (l *Live) Follow(ctx context.Context, load func() (Config, error)) {
	log := zerolog.Ctx(ctx)
	path, inForce := l.File().path, l.File().stamp
	seen, told := inForce, ""
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := stamp(path)
		still := now == seen
		seen = now
		if !still || now == inForce {
			continue
		}
		next, err := load()
		if stamp(path) != now {
			continue
		}
		if err == nil && l.File().written && !next.written {
			err = fmt.Errorf("%s is gone or empty; write it again, with no more than {} in it if the defaults are meant", path)
		}
		if err != nil && now+err.Error() == told {
			continue
		}
		if err != nil {
			// What is wrong may be with another file, which this one names, and is corrected there.
			told = now + err.Error()
			log.Warn().Err(err).Msg("the configuration has changed and cannot be used; the settings from before stay in force until it is corrected")
			continue
		}
		inForce, told = now, ""
		if later := l.swap(next); len(later) > 0 {
			log.Warn().Strs("later", later).Msg("the configuration has changed; what is named here takes effect when the agent is " +
				"started again, the rest from now on")
			continue
		}
		log.Info().Msg("the configuration has changed and is in force")
	}
}

// stamp tells one state of a file from another; it is empty where there is none.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}

// swap takes over the settings that can change while an agent runs, and names the others
// that are different.
func (l *Live) swap(next Config) (later []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &l.file
	c.written = next.written
	c.Merge, c.Rounds, c.Budgets, c.Engine, c.Prices, c.Rights, c.Labels = next.Merge, next.Rounds, next.Budgets, next.Engine,
		next.Prices, next.Rights, next.Labels
	c.Review, c.Author.Pause, c.Author.Nits, c.Log.Level = next.Review, next.Author.Pause, next.Author.Nits, next.Log.Level
	c.Keys, c.UnsignedUntil = next.Keys, next.UnsignedUntil
	was, is := reflect.ValueOf(*c), reflect.ValueOf(next)
	for field := range was.Type().Fields() {
		key := field.Tag.Get("yaml")
		if key != "" && key != "-" && !reflect.DeepEqual(was.FieldByIndex(field.Index).Interface(), is.FieldByIndex(field.Index).Interface()) {
			later = append(later, key)
		}
	}
	return later
}
