package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func open(t testing.TB, dir string) *Journal {
	t.Helper()
	j, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() }) // most tests have closed it, and look at that error
	return j
}

func shut(t testing.TB, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func begin(t testing.TB, j *Journal, ref, sha, act string) ID {
	t.Helper()
	id, err := j.Begin(Entry{Ref: ref, SHA: sha, Act: act})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func end(t testing.TB, j *Journal, id ID, outcome Outcome) {
	t.Helper()
	if err := j.End(id, outcome); err != nil {
		t.Fatal(err)
	}
}

// read is what somebody else sees of the journal.
func read(t testing.TB, dir string) []Entry {
	t.Helper()
	entries, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestWhatWasBegunIsRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "journal")
	if entries := read(t, dir); len(entries) != 0 {
		t.Errorf("before there is a journal, it has %v", entries)
	}
	j := open(t, dir)
	end(t, j, begin(t, j, "acme/app#1", "aaa", "review"), Outcome{OK: true})
	cut := begin(t, j, "acme/app#1", "bbb", "fix")
	if seen := read(t, dir); len(seen) != 2 || !reflect.DeepEqual(seen, j.entries) {
		t.Errorf("somebody else sees %+v; the journal has %+v", seen, j.entries)
	}
	shut(t, j)
	if seen := read(t, dir); seen[0].Interrupted || !seen[1].Interrupted || !seen[1].Ended.IsZero() {
		t.Errorf("with no agent at work, somebody else sees %+v", seen)
	}
	if _, err := j.Begin(Entry{Ref: "acme/app#1", SHA: "ccc", Act: "fix"}); err == nil {
		t.Error("a closed journal takes entries")
	}

	j = open(t, dir)
	seen := read(t, dir)
	if e := seen[1]; e.ID != cut || e.Interrupted || e.Ended.IsZero() || e.Outcome.OK || e.Outcome.Counts || e.Outcome.Detail != interrupted {
		t.Fatalf("opened again, the fix of bbb is %+v", e)
	}
	if next := begin(t, j, "acme/app#2", "ccc", "merge"); next <= cut {
		t.Errorf("after %d comes %d", cut, next)
	}
	if seen := read(t, dir); len(seen) != 3 || seen[2].Interrupted || !seen[2].Ended.IsZero() {
		t.Errorf("while the merge goes on, somebody else sees %+v", seen)
	}
}

// TestWhatACutOffActSpentIsRemembered checks that the cost of an interrupted act is kept, since a budget that
// forgot it would not limit anything.
func TestWhatACutOffActSpentIsRemembered(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	cut, err := j.Begin(Entry{Ref: "acme/app#1", SHA: "aaa", Act: "fix", Paid: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, cost := range []float64{0.5, 1.25} {
		if err := j.Update(cut, Account{Turns: 1, CostUSD: cost}); err != nil {
			t.Fatal(err)
		}
	}
	if seen := read(t, dir); seen[0].Outcome.Account.CostUSD != 1.25 || !seen[0].Ended.IsZero() {
		t.Errorf("while it goes on, somebody else sees %+v", seen[0])
	}
	shut(t, j)
	for range 2 { // what is compacted says the same
		j = open(t, dir)
		if e := j.entries[0]; e.Ended.IsZero() || e.Outcome.Account.CostUSD != 1.25 {
			t.Errorf("opened again, the journal has %+v", e)
		}
		if n, _ := j.Attempts("acme/app#1", "aaa", time.Time{}); n != 1 {
			t.Errorf("a session that was cut off is %d attempts", n)
		}
		shut(t, j)
	}
	j = open(t, dir)
	if err := j.Update(cut, Account{}); err == nil {
		t.Error("an act that has ended goes on spending")
	}
	going := begin(t, j, "acme/app#1", "aaa", "fix")
	if err := j.Update(going, Account{CostUSD: 2}); err != nil {
		t.Fatal(err)
	}
	if err := j.compact(); err != nil {
		t.Fatal(err)
	}
	if seen := read(t, dir); seen[1].Outcome.Account.CostUSD != 2 || !seen[1].Ended.IsZero() {
		t.Errorf("compacted while an act goes on, the journal says %+v", seen[1])
	}
}

func TestEntriesThatAreIncompleteOrTooLongAreRefused(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	long := strings.Repeat("x", maxField+1)
	for _, e := range []Entry{{}, {SHA: "a", Act: "fix"}, {Ref: "r", Act: "fix"}, {Ref: "r", SHA: "a"}, {Ref: long, SHA: "a", Act: "fix"},
		{Ref: "r", SHA: long, Act: "fix"}, {Ref: "r", SHA: "a", Act: long}} {
		if _, err := j.Begin(e); err == nil {
			t.Errorf("%.60q begins", e)
		}
	}
	id := begin(t, j, "acme/app#1", "aaa", "fix")
	end(t, j, id, Outcome{OK: true})
	if err := j.End(id, Outcome{}); err == nil {
		t.Error("an act ends twice")
	}
	if err := j.End(id+1, Outcome{}); err == nil {
		t.Error("an act ends that has not begun")
	}
	if entries := read(t, dir); len(entries) != 1 || !entries[0].Outcome.OK {
		t.Errorf("what was refused has left %+v", entries)
	}
}

func TestAttemptsAreFailuresSinceTheLastSuccess(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { // for its clock
		j := open(t, dir)
		start := time.Now()
		failed := func(ref, sha, detail string, counts bool) {
			time.Sleep(time.Minute)
			end(t, j, begin(t, j, ref, sha, "review"), Outcome{Counts: counts, Detail: detail})
		}
		failed("acme/app#1", "aaa", "before the success", true) // after 1 minute
		end(t, j, begin(t, j, "acme/app#1", "aaa", "escalate"), Outcome{OK: true})
		failed("acme/app#1", "aaa", "first", true)           // 2
		failed("acme/app#1", "aaa", "second", true)          // 3
		failed("acme/app#1", "aaa", "the network", false)    // 4
		failed("acme/app#1", "bbb", "another commit", true)  // 5
		failed("acme/app#2", "aaa", "another request", true) // 6
		end(t, j, begin(t, j, "acme/app#3", "aaa", "review"), Outcome{OK: true})
		begin(t, j, "acme/app#1", "aaa", "review")

		for _, again := range []bool{false, true} {
			if again {
				shut(t, j)
				j = open(t, dir)
			}
			for _, test := range []struct {
				ref, sha string
				n        int
				last     time.Time
			}{
				{"acme/app#1", "aaa", 2, start.Add(3 * time.Minute)},
				{"acme/app#1", "bbb", 1, start.Add(5 * time.Minute)},
				{"acme/app#2", "aaa", 1, start.Add(6 * time.Minute)},
				{"acme/app#1", "ccc", 0, time.Time{}},
			} {
				if n, last := j.Attempts(test.ref, test.sha, time.Time{}); n != test.n || !last.Ended.Equal(test.last) {
					t.Errorf("opened again %t: on %s at %s: %d, the last %s; want %d, %s", again, test.ref, test.sha, n, last.Ended, test.n, test.last)
				}
			}
			for sha, want := range map[string]string{"aaa": "second", "bbb": "another commit", "ccc": ""} {
				if _, last := j.Attempts("acme/app#1", sha, time.Time{}); last.Outcome.Detail != want {
					t.Errorf("opened again %t: the last failure on %s is %q; want %q", again, sha, last.Outcome.Detail, want)
				}
			}
		}
		shut(t, j)
	})
}

func TestDetailIsBounded(t *testing.T) {
	for name, detail := range map[string]string{
		"runes":   "x" + strings.Repeat("é", MaxDetail),
		"binary":  strings.Repeat("\xff\x00", MaxDetail),
		"escaped": strings.Repeat("\x01", MaxDetail),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j := open(t, dir)
			end(t, j, begin(t, j, "acme/app#1", "aaa", "review"), Outcome{Counts: true, Detail: detail})
			got := read(t, dir)[0].Outcome.Detail
			_, last := j.Attempts("acme/app#1", "aaa", time.Time{})
			if len(got) < MaxDetail/2-1 || len(got) > MaxDetail || !utf8.ValidString(got) || got != last.Outcome.Detail {
				t.Errorf("%d bytes are left, %.20q…", len(got), got)
			}
		})
	}
}

func TestJournalIsOpenToOneAgentAtATime(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	id := begin(t, j, "acme/app#1", "aaa", "review")
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "state_dir") {
		t.Errorf("error %v; it has to say what to do about %s", err, dir)
	}
	end(t, j, id, Outcome{OK: true})
	shut(t, j)
	open(t, dir)
}

func TestSeveralActsAtOnce(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() {
			for i := range 10 {
				id, err := j.Begin(Entry{Ref: fmt.Sprintf("acme/app#%d", worker), SHA: strconv.Itoa(i), Act: "review"})
				if err == nil {
					err = j.End(id, Outcome{Counts: true})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	entries := read(t, dir)
	if len(entries) != 80 || slices.ContainsFunc(entries, func(e Entry) bool { return e.Ended.IsZero() }) {
		t.Errorf("%d entries, want 80 that ended: %+v", len(entries), entries)
	}
}

func TestJournalIsCompactedWhenOpened(t *testing.T) {
	dir := t.TempDir()
	const written = maxKept + 10
	var all bytes.Buffer
	for i := 1; i <= written; i++ {
		fmt.Fprintf(&all, `{"id":%d,"at":"2026-01-02T03:04:05Z","begin":{"ref":"acme/app#1","sha":"s%d","act":"review"}}`+"\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, entriesFile), all.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	shut(t, open(t, dir))
	entries := read(t, dir)
	if len(entries) != maxKept || entries[0].ID != written-maxKept+1 || entries[maxKept-1].ID != written {
		t.Fatalf("%d entries are left, from %d to %d", len(entries), entries[0].ID, entries[len(entries)-1].ID)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("the directory holds %v, %v; want the entries and the lock", left, err)
	}
}

func TestTheCursorOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	if got := j.Cursor(); got != "" {
		t.Errorf("a new journal is at %q", got)
	}
	for _, cursor := range []string{"q7m2x4ka-1", "q7m2x4ka-1042", "q7m2x4ka-1042"} {
		if err := j.SetCursor(cursor); err != nil || j.Cursor() != cursor {
			t.Fatalf("set to %s: %v, at %q", cursor, err, j.Cursor())
		}
	}
	if err := j.SetCursor("tomorrow"); err == nil || j.Cursor() != "q7m2x4ka-1042" {
		t.Errorf("what is no cursor: %v, at %q", err, j.Cursor())
	}
	shut(t, j)
	j = open(t, dir)
	if got := j.Cursor(); got != "q7m2x4ka-1042" {
		t.Errorf("opened again, it is at %q", got)
	}
	shut(t, j)
	if err := os.WriteFile(filepath.Join(dir, cursorFile), make([]byte, 14), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := open(t, dir).Cursor(); got != "" {
		t.Errorf("after a power cut left zeros, it is at %q", got)
	}
}

// TestJournalIsCompactedWhileOpen compacts an open journal, since an agent may run for months.
func TestJournalIsCompactedWhileOpen(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	j.kept = 10
	long := begin(t, j, "acme/app#1", "aaa", "review")
	largest := 0
	for range 100 {
		end(t, j, begin(t, j, "acme/app#2", "bbb", "fix"), Outcome{Counts: true})
		largest = max(largest, len(read(t, dir)))
	}
	if largest > 2*j.kept {
		t.Errorf("it grew to %d entries", largest)
	}
	entries := read(t, dir)
	if entries[0].ID != long || !entries[0].Ended.IsZero() || entries[len(entries)-1].ID != 101 || !reflect.DeepEqual(entries, j.entries) {
		t.Errorf("left over are %+v", entries)
	}
	end(t, j, long, Outcome{OK: true})
	shut(t, j)
	if entries := read(t, dir); !entries[0].Outcome.OK {
		t.Errorf("what ended last is lost: %+v", entries[0])
	}
}

// TestAnOutagePushesNothingOut checks that the many failed sessions of an outage do not displace entries
// about attempts and their cost.
func TestAnOutagePushesNothingOut(t *testing.T) {
	j := open(t, t.TempDir())
	j.kept = 10
	for range 3 {
		end(t, j, begin(t, j, "acme/app#1", "aaa", "review"), Outcome{Counts: true, Account: Account{Turns: 1, CostUSD: 2}})
	}
	for range 100 {
		id, err := j.Begin(Entry{Ref: "acme/app#2", SHA: "bbb", Act: "review", Paid: true})
		if err != nil {
			t.Fatal(err)
		}
		end(t, j, id, Outcome{Detail: "overloaded", Account: Account{Turns: 1, Duration: 20 * time.Second}})
	}
	if n, _ := j.Attempts("acme/app#1", "aaa", time.Time{}); n != 3 || len(j.entries) > 2*j.kept {
		t.Errorf("%d attempts are left, in %d entries", n, len(j.entries))
	}
	if last := j.entries[len(j.entries)-1]; last.ID != 103 {
		t.Errorf("the newest is %+v", last)
	}
}

// TestAnEndThatCannotBeWrittenIsKnown checks that an act that this process saw end has ended, even if the
// disk refused the entry: otherwise a paid session would not count as an attempt.
func TestAnEndThatCannotBeWrittenIsKnown(t *testing.T) {
	j := open(t, t.TempDir())
	id := begin(t, j, "acme/app#1", "aaa", "review")
	if err := j.file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.End(id, Outcome{Counts: true}); !errors.Is(err, ErrUnwritten) {
		t.Errorf("it ends with %v", err)
	}
	if n, _ := j.Attempts("acme/app#1", "aaa", time.Time{}); n != 1 {
		t.Errorf("%d attempts", n)
	}
}

// TestOpenSaysWhatToDo checks that an unwritable directory leads to a message that says what to do.
func TestOpenSaysWhatToDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(filepath.Join(file, "journal"))
	if !errors.Is(err, ErrUnwritten) || !strings.Contains(err.Error(), "make it writable") {
		t.Errorf("it says %v", err)
	}
}

func TestAnEntryIsPrintedOnOneLine(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	e := Entry{ID: 1, Ref: "acme/app#1", SHA: "0123456789", Act: "fix", Begun: at}
	if got, want := e.String(), "2026-01-02 03:04:05 fix acme/app#1 0123456: going on"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e.Interrupted = true
	if got, want := e.String(), "2026-01-02 03:04:05 fix acme/app#1 0123456: interrupted"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e.Interrupted = false
	e.Ended, e.Outcome = at.Add(1234*time.Millisecond), Outcome{OK: true}
	if got, want := e.String(), "2026-01-02 03:04:05 fix acme/app#1 0123456: done in 1.2s"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e.Outcome = Outcome{Detail: "two\n lines"}
	if got, want := e.String(), "2026-01-02 03:04:05 fix acme/app#1 0123456: failed: two lines"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func BenchmarkBeginEnd(b *testing.B) {
	j := open(b, b.TempDir())
	for b.Loop() {
		end(b, j, begin(b, j, "acme/app#1", "aaa", "review"), Outcome{OK: true})
	}
}

func BenchmarkSetCursor(b *testing.B) {
	j := open(b, b.TempDir())
	for i := 1; b.Loop(); i++ {
		if err := j.SetCursor("q7m2x4ka-" + strconv.Itoa(i)); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNotesAreShownAndCountForNothing(t *testing.T) {
	t.Parallel()
	j := open(t, t.TempDir())
	id, err := j.Begin(Entry{Ref: "acme/app#1", SHA: "aaa", Act: "fix"})
	if err == nil {
		err = j.End(id, Outcome{Counts: true, Permanent: true, RetryAfter: time.Minute})
	}
	if err == nil {
		err = j.Note("acme/app#1", "aaa", "mona pushed,\nand the agent makes way")
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, last := j.Attempts("acme/app#1", "aaa", time.Time{}); n != 1 || last.Act != "fix" || !last.Outcome.Permanent ||
		last.Outcome.RetryAfter != time.Minute {
		t.Errorf("%d attempts, the last %+v", n, last)
	}
	var seen []string
	j.Each(func(e Entry) { seen = append(seen, e.String()) })
	if len(seen) != 2 || !strings.HasSuffix(seen[1], "wait acme/app#1 aaa: mona pushed, and the agent makes way") {
		t.Errorf("the journal shows %q", seen)
	}
}

// TestJournalGoesOnAfterItCouldNotBeOpenedAgain checks that the journal is used again once its file can be opened again.
func TestJournalGoesOnAfterItCouldNotBeOpenedAgain(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	j.kept = 5
	for range 2 * j.kept {
		end(t, j, begin(t, j, "acme/app#2", "bbb", "fix"), Outcome{Counts: true})
	}
	path, away := filepath.Join(dir, entriesFile), filepath.Join(dir, "away")
	if err := errors.Join(os.Rename(path, away), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Begin(Entry{Ref: "acme/app#2", SHA: "bbb", Act: "fix"}); err == nil {
		t.Fatal("it begins an act although its file cannot be opened, so nothing was tried")
	}
	if err := errors.Join(os.Remove(path), os.Rename(away, path)); err != nil {
		t.Fatal(err)
	}
	end(t, j, begin(t, j, "acme/app#2", "bbb", "fix"), Outcome{Counts: true})
	shut(t, j)
	if n := len(read(t, dir)); n != 6 {
		t.Errorf("%d entries in the file, want the 5 newest and the one that was added", n)
	}
}
