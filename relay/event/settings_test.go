package event

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// Settings survive both their form in the log and their frame, wherever the frame moves the cursor.
func TestSettingsFrame(t *testing.T) {
	settings := Settings{
		ID: Cursor{Log: "q7m2x4ka", Seq: 7}, By: "ops", At: time.UnixMilli(1_700_000_000_123).UTC(),
		Values: map[string]string{"engine.review.model": "claude-sonnet-4-5", "engine.off": ""},
	}
	e, err := settings.Event()
	if err != nil {
		t.Fatal(err)
	}
	e.ID = settings.ID
	if back, err := e.Settings(); err != nil || !reflect.DeepEqual(back, settings) || !e.IsSettings() {
		t.Errorf("the log gives back %+v, %v", back, err)
	}
	inOrder, err := e.AppendFrame(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := "event: relay.control\ndata: " +
		`{"id":"q7m2x4ka-7","settings":{"engine.off":"","engine.review.model":"claude-sonnet-4-5"},"by":"ops","at":"2023-11-14T22:13:20.123Z"}` +
		"\nid: q7m2x4ka-7\n\n"
	if string(inOrder) != want {
		t.Errorf("got %q", inOrder)
	}
	ahead, err := settings.AppendFrame(nil, Cursor{Log: "q7m2x4ka", Seq: 3})
	if err != nil {
		t.Fatal(err)
	}
	for seq, frame := range map[int64][]byte{7: inOrder, 3: ahead} {
		if m := readFrame(t, frame); m.Settings == nil || !reflect.DeepEqual(*m.Settings, settings) || m.Event != nil || m.Cursor.Seq != seq {
			t.Errorf("the frame at %d came back as %+v", seq, m)
		}
	}
	e.Payload = []byte(`{"engine.off":7}`)
	if _, err := e.AppendFrame(nil); err == nil {
		t.Error("damaged settings have a frame")
	}
	if (Event{Source: "github", Type: "control"}).IsSettings() {
		t.Error("a webhook passes for settings")
	}
}

func TestValidateSetting(t *testing.T) {
	for _, test := range []struct{ key, value, problem string }{
		{"engine.model", "claude-sonnet-4-5", ""},
		{"engine.model", "sonnet[1m]", ""},
		{"engine.review.model", "codex:", ""},
		{"engine.models.trivial", "openrouter/deepseek/r1:free", ""},
		{"engine.models.fix", "anthropic.claude-v2:0", ""},
		{"engine.model", "us.anthropic.claude-opus-4-1-20250805-v1:0", ""},
		{"engine.fallback", "sonnet,codex:gpt-5", ""},
		{"engine.fallback", "", ""},
		{"engine.off", "opus", ""},
		{"engine.off", "gpt-5,codex:o3,codex:", ""},
		{"engine.off", "a", "could switch off other models too"},
		{"engine.off", "opus,4-1", "could switch off other models too"},
		{"engine.off", "20250805", "could switch off other models too"},
		{"engine.model", "", "must be the name of a model"},
		{"engine.model", "--dangerously-skip-permissions", "must be the name of a model"},
		{"engine.model", "codex:--sandbox=off", "must be the name of a model"},
		{"engine.model", "a b", "must be the name of a model"},
		{"engine.model", "a\nb", "must be the name of a model"},
		{"engine.model", "a,b", "must be the name of a model"},
		{"engine.model", strings.Repeat("a", 129), "must be the name of a model"},
		{"engine.model", "sk-ant-api03-abcdef", "looks like a key"},
		{"engine.model", "codex:sk-proj-abc", "looks like a key"},
		{"engine.fallback", "sonnet,rly_k3f2q7xa_abc", "looks like a key"},
		{"engine.fallback", "sonnet,", "must be the name of a model"},
		{"engine.off", strings.Repeat("a,", 20) + "a", "at most 20"},
		{"engine.off", strings.Repeat(",", 1<<20), "at most 2580"},
		{"engine.model", strings.Repeat("a", 1<<20), "at most 2580"},
		{"engine.command", "sh", "cannot be set from a relay; the settings are engine.fallback, engine.model,"},
		{"engine.gateway", "off", "cannot be set"},
		{"engine.sandbox", "off", "cannot be set"},
		{"merge.auto", "true", "cannot be set"},
		{"", "", "cannot be set"},
	} {
		err := ValidateSetting(test.key, test.value)
		if test.problem == "" && err != nil || test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)) {
			t.Errorf("%s=%.40q: %v, want %q", test.key, test.value, err, test.problem)
		}
		if err != nil && len(test.value) > 10 && strings.Contains(err.Error(), test.value) {
			t.Errorf("%s: the error repeats what may be a secret", test.key)
		}
	}
}
