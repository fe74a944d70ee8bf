package remoteconfig_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"touchstone/agent/config"
	"touchstone/agent/remoteconfig"
	"touchstone/relay/client"
	"touchstone/relay/event"
)

// said are settings as a relay would send them.
func said(seq int64, settings map[string]string) event.Settings {
	return event.Settings{ID: event.Cursor{Log: "q7m2x4ka", Seq: seq}, Values: settings, By: "ops"}
}

// Every key that a relay lets through means something here, and something else than the
// others.
func TestEveryKeyDoesSomething(t *testing.T) {
	before := config.Default().Engine
	before.Model, before.Models.Full, before.Fallback = "own", "own-full", []string{"own-fallback"}
	outcomes := map[string]string{}
	for i, key := range event.SettingKeys() {
		var o remoteconfig.Overlay
		o.Take(t.Context(), said(int64(i+1), map[string]string{key: "codex:gpt-5"}))
		after := o.Apply(before)
		if reflect.DeepEqual(after, before) {
			t.Errorf("%s changes nothing", key)
		}
		if err := after.Validate(); err != nil {
			t.Errorf("%s: what comes of it cannot work: %v", key, err)
		}
		outcome := fmt.Sprintf("%+v", after)
		if other, same := outcomes[outcome]; same {
			t.Errorf("%s does what %s does", key, other)
		}
		outcomes[outcome] = key
	}
}

func TestApply(t *testing.T) {
	file := config.Default().Engine
	file.Model, file.Models.Trivial, file.Off = "opus", "haiku", []string{"codex:"}
	engine := func(change func(e *config.Engine)) config.Engine {
		e := file
		change(&e)
		return e
	}
	for name, test := range map[string]struct {
		settings map[string]string
		want     config.Engine
	}{
		"nothing": {map[string]string{}, file},
		"all tiers at once": {
			map[string]string{"engine.review.model": "sonnet"},
			engine(func(e *config.Engine) { e.Models.Trivial, e.Models.Lite, e.Models.Full = "sonnet", "sonnet", "sonnet" }),
		},
		"one tier besides": {
			map[string]string{"engine.review.model": "sonnet", "engine.models.trivial": "haiku"},
			engine(func(e *config.Engine) { e.Models.Trivial, e.Models.Lite, e.Models.Full = "haiku", "sonnet", "sonnet" }),
		},
		"lists": {
			map[string]string{"engine.fallback": "sonnet,codex:gpt-5", "engine.off": "haiku"},
			engine(func(e *config.Engine) {
				e.Fallback, e.Off = []string{"sonnet", "codex:gpt-5"}, []string{"codex:", "haiku"}
			}),
		},
		"nothing is off, but what is so here": {
			map[string]string{"engine.fallback": "", "engine.off": ""},
			engine(func(e *config.Engine) { e.Fallback = []string{} }),
		},
		"what an engine calls otherwise": {
			map[string]string{"engine.models.lite": "opencode:gpt-5", "engine.models.full": "opencode:openai/gpt-5",
				"engine.models.fix": "opencode:", "engine.fallback": "sonnet,opencode:gpt-5", "engine.off": "haiku,opencode:gpt-5"},
			engine(func(e *config.Engine) {
				e.Models.Full, e.Off = "opencode:openai/gpt-5", []string{"codex:", "haiku", "opencode:gpt-5"}
			}),
		},
		"what is not known, beside what is": {
			map[string]string{"engine.command": "sh", "engine.gateway": "off", "engine.models.fix": "--help", "engine.models.lite": "grok:4",
				"engine.models.full": "sonnet"},
			engine(func(e *config.Engine) { e.Models.Full = "sonnet" }),
		},
	} {
		var o remoteconfig.Overlay
		o.Take(t.Context(), said(1, test.settings))
		if got := o.Apply(file); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
		o.Take(t.Context(), said(2, map[string]string{}))
		if got := o.Apply(file); !reflect.DeepEqual(got, file) {
			t.Errorf("%s: when it is unset, there stays %+v", name, got)
		}
	}
}

// What is in force is said once, and what is left out in a sentence, however often a relay
// repeats it.
func TestSettingsInForceAreLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	ctx := zerolog.New(&log).WithContext(t.Context())
	var o remoteconfig.Overlay
	for range 3 {
		o.Take(ctx, said(7, map[string]string{"engine.models.full": "sonnet", "engine.models.lite": "grok:4", "engine.shell": "sh"}))
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0],
		`engine.models.lite=grok:4: there is no engine named \"grok\"; engine.name must be one of acp, claude, codex, opencode`) ||
		!strings.Contains(lines[0], `\"engine.shell\" cannot be set from a relay`) ||
		!strings.Contains(lines[1], `"remote_config":"q7m2x4ka-7","by":"ops","settings":{"engine.models.full":"sonnet"}`) {
		t.Errorf("the log says %s", &log)
	}
}

// A relay that is out of control can neither fill the log nor keep the agent busy; what it says of known settings is in
// force all the same.
func TestOnlySoManySettingsAreTaken(t *testing.T) {
	t.Parallel()
	settings := map[string]string{"engine.models.full": "sonnet", "engine.off": "opus"}
	for i := range 10_000 {
		settings[fmt.Sprint("a", i)] = "x"
	}
	var log bytes.Buffer
	var o remoteconfig.Overlay
	o.Take(zerolog.New(&log).WithContext(t.Context()), said(1, settings))
	if e := o.Apply(config.Engine{}); e.Models.Full != "sonnet" || !reflect.DeepEqual(e.Off, []string{"opus"}) {
		t.Errorf("in force are %+v", e)
	}
	if log.Len() > 64<<10 || len(o.Summary("").Problems) == 0 {
		t.Errorf("the log has %d bytes, with %d problems", log.Len(), len(o.Summary("").Problems))
	}
}

var errEnough = errors.New("enough")

// A relay's stream is all it takes, with anything else in it; a log that is gone takes its
// settings along.
func TestRemoteSettingsFollowTheStream(t *testing.T) {
	frames, err := said(4, map[string]string{"engine.model": "sonnet"}).AppendFrame([]byte(": hello\n\nid: q7m2x4ka-9\n\n"),
		event.Cursor{Log: "q7m2x4ka", Seq: 9})
	if err != nil {
		t.Fatal(err)
	}
	frames = append(frames, "event: relay.future\ndata: {\"x\":1}\nid: q7m2x4ka-10\n\n"...)
	if frames, err = (event.Reset{Log: "zzzzzzzz", Reason: "unknown log"}).AppendFrame(frames, event.Cursor{Log: "zzzzzzzz"}); err != nil {
		t.Fatal(err)
	}
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(frames)
	}))
	defer relay.Close()
	var o remoteconfig.Overlay
	var models []string
	err = (&client.Client{URL: relay.URL}).Follow(t.Context(), client.Now, func(ctx context.Context, m event.Message) error {
		switch {
		case m.Settings != nil:
			o.Take(ctx, *m.Settings)
		case m.Reset != nil:
			o.Drop()
		}
		models = append(models, o.Apply(config.Engine{Model: "own"}).Model)
		if m.Reset != nil {
			return errEnough
		}
		return nil
	})
	if want := []string{"own", "sonnet", "sonnet", "own"}; !errors.Is(err, errEnough) || !reflect.DeepEqual(models, want) {
		t.Errorf("the models were %v, want %v; %v", models, want, err)
	}
}
