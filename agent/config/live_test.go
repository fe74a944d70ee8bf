package config

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"
)

// following is an agent's settings that are followed in a bubble of time of their own. Step
// lets time for a look at the file go by after it was written, and gives what was logged.
func following(t *testing.T, text string) (live *Live, step func(text string) string) {
	home := t.TempDir()
	path := filepath.Join(home, ".config", "touchstone", "agent.yaml")
	if text != "" {
		write(t, text, 0o600, path)
	}
	load := func() (Config, error) {
		c, err := Load("", environment(home))
		if err == nil {
			err = c.Validate()
		}
		return c, err
	}
	first, err := load()
	if err != nil {
		t.Fatal(err)
	}
	live = NewLive(first, nil)
	log := make(lines, 16)
	logger := zerolog.New(log)
	go live.Follow(logger.WithContext(t.Context()), load)
	synctest.Wait()
	return live, func(text string) string {
		if text == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, text, 0o600, path)
		}
		for range 3 { // looks, of which the later ones find nothing new
			pass(t.Context())
		}
		said := ""
		for len(log) > 0 {
			said += <-log
		}
		return said
	}
}

// lines are what was logged.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// pass lets the time of a look go by in a bubble.
func pass(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	<-ctx.Done()
	synctest.Wait()
}

func TestLiveTakesOverWhatCanChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, step := following(t, "concurrency: 2\n")
		if said := step("concurrency: 2\nmerge: {auto: false}\nengine: {models: {full: opus}, off: [haiku]}\nlabels: {hold: wait}\nrounds: " +
			"{max: 3}\nbudgets: {day: 1}\nlog: {level: debug}\n"); strings.Count(said, "\n") != 1 || !strings.Contains(said, "is in force") {
			t.Errorf("it says %s", said)
		}
		c := live.Config()
		if c.Merge.Auto || c.Engine.Models.Full != "opus" || !slices.Equal(c.Engine.Off, []string{"haiku"}) || c.Labels.Hold != "wait" ||
			c.Rounds.Max != 3 || c.Budgets.Day != 1 || c.Log.Level != "debug" {
			t.Errorf("in force is %+v", c)
		}
		if said := step("concurrency: 4\nrepositories: [acme/app]\nmerge: {auto: true}\n"); !strings.Contains(said,
			`"later":["repositories","concurrency"]`) {
			t.Errorf("it says %s", said)
		}
		if c := live.Config(); c.Concurrency != 2 || len(c.Repositories) > 0 || !c.Merge.Auto || c.Engine.Models.Full != "" {
			t.Errorf("in force is %+v", c)
		}
	})
}

// TestLiveKeepsToWhatWorks checks that a broken file changes nothing and is logged once. Each file differs in
// size from the one before, since many file systems would give both the same time.
func TestLiveKeepsToWhatWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, step := following(t, "rounds: {max: 7}\nmerge: {auto: false}\n")
		for _, broken := range []string{"rounds: {max: 0}\n", "rounds: {maximum: 1}\n", "[", "\n\n", "", "# merge: {auto: false}\n"} {
			said := step(broken)
			if strings.Count(said, "\n") != 1 || !strings.Contains(said, "the settings from before stay in force") {
				t.Errorf("over %q it says %s", broken, said)
			}
			if c := live.Config(); c.Rounds.Max != 7 || c.Merge.Auto {
				t.Errorf("%q changes it to %+v", broken, c)
			}
		}
		if step("rounds: {max: 8}\n"); live.Config().Rounds.Max != 8 {
			t.Errorf("a file that works again leaves %+v", live.Config().Rounds)
		}
	})
}

// TestLiveWaitsForTheWholeFile checks that a file that is still being written is not used.
func TestLiveWaitsForTheWholeFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, step := following(t, "merge: {auto: false}\n")
		path := live.File().path
		write(t, "rounds: {max: 5}\n", 0o600, path)
		pass(t.Context())
		if c := live.Config(); c.Merge.Auto {
			t.Error("half a file is in force")
		}
		if step("rounds: {max: 5}\nmerge: {auto: false}\n"); live.Config().Merge.Auto || live.Config().Rounds.Max != 5 {
			t.Errorf("in force is %+v", live.Config())
		}
	})
}

// TestLiveFindsAFirstFile checks that a new file takes effect if there was none before.
func TestLiveFindsAFirstFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, step := following(t, "")
		if step("merge: {auto: false}\n"); live.Config().Merge.Auto {
			t.Error("a file that appeared is not in force")
		}
		if step("{}\n"); !live.Config().Merge.Auto {
			t.Error("a file that asks for the defaults is not in force")
		}
	})
}

// TestLiveFindsWhatChangedBeforeItLooks changes the file after the agent read its settings and before it
// follows them.
func TestLiveFindsWhatChangedBeforeItLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "agent.yaml")
		write(t, "rounds: {max: 7}\n", 0o600, path)
		load := func() (Config, error) { return Load(path, environment(t.TempDir())) }
		first, err := load()
		if err != nil {
			t.Fatal(err)
		}
		live := NewLive(first, nil)
		write(t, "rounds: {max: 8}\nmerge: {auto: false}\n", 0o600, path)
		go live.Follow(t.Context(), load)
		for range 3 {
			pass(t.Context())
		}
		if c := live.Config(); c.Rounds.Max != 8 || c.Merge.Auto {
			t.Errorf("in force is %+v", c)
		}
	})
}

// TestLiveFindsAnotherFileCorrected corrects a file that the settings name, which was the cause of the error.
func TestLiveFindsAnotherFileCorrected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, step := following(t, "rounds: {max: 7}\n")
		said := step("rounds: {max: 8}\nnotify: {slack_webhook_file: bell}\n")
		if strings.Count(said, "\n") != 1 || !strings.Contains(said, "slack_webhook_file") || live.Config().Rounds.Max != 7 {
			t.Errorf("without the file it says %s", said)
		}
		write(t, "https://hooks.example.com/x\n", 0o600, filepath.Join(filepath.Dir(live.File().path), "bell"))
		pass(t.Context())
		if live.Config().Rounds.Max != 8 {
			t.Error("the settings are not in force although what they name is there")
		}
	})
}

// fixed is an overlay that says one model.
type fixed string

func (m fixed) Apply(e Engine) Engine {
	e.Model = string(m)
	return e
}

func TestRelaysChoiceOverridesTheFile(t *testing.T) {
	cfg := Default()
	cfg.Engine.Model = "sonnet"
	live := NewLive(cfg, fixed("opus"))
	if now, file := live.Config().Engine.Model, live.File().Engine.Model; now != "opus" || file != "sonnet" {
		t.Errorf("in force is %q over %q", now, file)
	}
	cfg.Engine.Model = "haiku"
	live.swap(cfg)
	if now := live.Config().Engine.Model; now != "opus" {
		t.Errorf("after a change of the file it is %q", now)
	}
}

func TestATaskWithoutAModelGetsTheGeneralOne(t *testing.T) {
	e := Engine{Model: "one", Models: Models{Lite: "two", Conflict: "three"}}
	for task, want := range map[Task]string{ReviewTrivial: "one", ReviewLite: "two", ReviewFull: "one", Fix: "one", Conflict: "three",
		"": "one"} {
		if got := e.ModelFor(task); got != want {
			t.Errorf("%s is done by %q", task, got)
		}
	}
}
