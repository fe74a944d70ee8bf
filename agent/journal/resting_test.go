package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRestingIsSeenWhileTheAgentRuns checks that others see the resting models of a process only while that
// process is running.
func TestRestingIsSeenWhileTheAgentRuns(t *testing.T) {
	dir := t.TempDir()
	see := func(when string, want ...Rest) {
		t.Helper()
		got, err := Resting(dir)
		if err != nil || len(got) != len(want) || len(want) > 0 && (got[0].Model != want[0].Model || !got[0].Until.Equal(want[0].Until)) {
			t.Errorf("%s: %v, %v; want %v", when, got, err, want)
		}
	}
	see("before there is a journal")
	j := open(t, dir)
	see("at first")
	opus := Rest{Model: "claude opus", Why: "is overloaded", Since: time.Now(), Until: time.Now().Add(2 * time.Minute)}
	if err := j.SetResting([]Rest{opus}); err != nil {
		t.Fatal(err)
	}
	see("while it is left alone", opus)
	if err := os.WriteFile(filepath.Join(dir, restingFile), []byte(`[{"mod`), 0o600); err != nil {
		t.Fatal(err)
	}
	see("spoilt")
	if err := j.SetResting([]Rest{opus}); err != nil {
		t.Fatal(err)
	}
	shut(t, j)
	see("with no agent at work")
	j = open(t, dir)
	see("in the next process")
	if err := j.SetResting([]Rest{}); err != nil {
		t.Fatal(err)
	}
	see("when all answer")
	shut(t, j)
}

func TestRestIsASentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Rest{Model: "claude opus", Why: "is overloaded", Since: time.Now(), Until: time.Now().Add(2 * time.Minute)}
		want := "claude opus is overloaded since " + r.Since.Local().Format(time.DateTime) + ": not used until " +
			r.Until.Local().Format(time.TimeOnly) + ", for another 1m30s"
		time.Sleep(30 * time.Second)
		if got := r.String(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
		time.Sleep(90 * time.Second)
		if got := r.String(); !strings.HasSuffix(got, ": the next session tries it again") {
			t.Errorf("later %q", got)
		}
	})
}
