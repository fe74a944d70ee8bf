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

// Overlay changes the file's engine settings, for example by the choices of a relay's administrators. It must
// not modify its argument, and must return settings that pass Validate.
type Overlay interface {
	Apply(Engine) Engine
}

// Live holds the settings in force while an agent runs: those of the file as it is now, if they can change at
// run time, under an overlay. Its methods are safe for concurrent use.
type Live struct {
	overlay Overlay

	mu   sync.Mutex
	file Config
}

// NewLive starts with settings that pass Validate. Overlay may be nil.
func NewLive(c Config, overlay Overlay) *Live { return &Live{overlay: overlay, file: c} }

// File returns the settings of the file, without the overlay.
func (l *Live) File() Config {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file
}

// Config returns the settings in force. Callers ask for them when they start something, and use that answer
// until it is done.
func (l *Live) Config() Config {
	c := l.File()
	if l.overlay != nil {
		own := c.Engine
		c.Engine = l.overlay.Apply(own)
		c.Engine.Own = &own
	}
	return c
}

// lookEvery is the interval between two checks of the file.
const lookEvery = time.Second

// Follow applies changes to the file until the context ends. It waits until two checks find the same file,
// since an editor may write it in pieces. Load reads the settings again and returns an error if they cannot
// be used; then the previous settings stay in force, and the log says so. The log also names the settings
// that take effect at the next start only. A file that is removed or emptied is an error if it had content,
// because its defaults could allow what it forbade.
func (l *Live) Follow(ctx context.Context, load func() (Config, error)) {
	log := zerolog.Ctx(ctx)
	path, inForce := l.File().path, l.File().stamp
	seen, logged := inForce, ""
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
			err = fmt.Errorf("%s is missing or empty; write it again. For the defaults, {} is enough", path)
		}
		if err != nil && now+err.Error() == logged {
			continue
		}
		if err != nil {
			// The error may lie in another file, which this message names and which is corrected there.
			logged = now + err.Error()
			log.Warn().Err(err).Msg("the configuration has changed and cannot be used; the settings from before stay in force until it is corrected")
			continue
		}
		inForce, logged = now, ""
		if later := l.swap(next); len(later) > 0 {
			log.Warn().Strs("later", later).Msg("the configuration has changed; what is named here takes effect when the agent is " +
				"started again, the rest from now on")
			continue
		}
		log.Info().Msg("the configuration has changed and is in force")
	}
}

// stamp identifies a state of a file; it is empty if there is no file.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}

// swap takes over the settings that can change while an agent runs, and returns the names of the others that
// changed.
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
