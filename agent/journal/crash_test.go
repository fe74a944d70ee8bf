package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// writerDir makes the test binary a process that does nothing but write to the journal in
// that directory, and says what it was told is on disk.
const writerDir = "JOURNAL_TEST_WRITER_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		fmt.Fprintln(os.Stderr, writeForEver(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func writeForEver(dir string) error {
	j, err := Open(dir)
	if err != nil {
		return err
	}
	for {
		id, err := j.Begin(Entry{Ref: "acme/app#1", SHA: "aaa", Act: "review"})
		if err != nil {
			return err
		}
		fmt.Println("begun", id)
		if err := j.End(id, Outcome{OK: true, Detail: strings.Repeat("d", MaxDetail)}); err != nil {
			return err
		}
		fmt.Println("ended", id)
	}
}

func TestKilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	for round := range 5 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), writerDir+"="+dir)
		child.Stderr = os.Stderr
		stdout, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		var told []string
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if told = append(told, lines.Text()); len(told) == 20+round {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := child.Wait(); err == nil || len(told) < 20 {
			t.Fatalf("round %d: the writer ended by itself: %v", round, err)
		}

		j := open(t, dir)
		for _, line := range told {
			var what string
			var id ID
			if _, err := fmt.Sscan(line, &what, &id); err != nil {
				t.Fatalf("the writer said %q", line)
			}
			if e := find(j.entries, id); e == nil || what == "ended" && len(e.Outcome.Detail) != MaxDetail {
				t.Errorf("round %d: the writer was told that %s; the journal has %+v", round, line, e)
			}
		}
		for _, e := range j.entries {
			if e.Ended.IsZero() {
				t.Errorf("round %d: opened again, %s goes on", round, e)
			}
		}
		shut(t, j)
	}
}

// Lines of a journal, as they stand in the file.
const (
	begun1 = `{"id":1,"at":"2026-01-02T03:04:05Z","begin":{"ref":"acme/app#1","sha":"aaa","act":"review"}}` + "\n"
	ended1 = `{"id":1,"at":"2026-01-02T03:04:06Z","end":{"ok":true}}` + "\n"
	begun2 = `{"id":2,"at":"2026-01-02T03:04:07Z","begin":{"ref":"acme/app#2","sha":"bbb","act":"fix"}}` + "\n"
)

// states is which entries there are: begun, and cut off at the latest when the journal was
// opened, or ended well or badly.
func states(entries []Entry) map[ID]string {
	all := map[ID]string{}
	for _, e := range entries {
		switch {
		case e.Ended.IsZero() || e.Outcome.Detail == interrupted:
			all[e.ID] = "begun"
		case e.Outcome.OK:
			all[e.ID] = "well"
		default:
			all[e.ID] = "badly"
		}
	}
	return all
}

func TestADamagedJournalKeepsItsWholeLines(t *testing.T) {
	for name, test := range map[string]struct {
		content string
		want    map[ID]string
	}{
		"none":                  {begun1 + ended1 + begun2, map[ID]string{1: "well", 2: "begun"}},
		"all":                   {"", map[ID]string{}},
		"torn in a beginning":   {begun1 + ended1 + begun2[:40], map[ID]string{1: "well"}},
		"torn before the break": {begun1 + ended1[:len(ended1)-1], map[ID]string{1: "begun"}},
		"zeros at the end":      {begun1 + strings.Repeat("\x00", 500), map[ID]string{1: "begun"}},
		"a hole":                {begun1 + "\x00\x00garbage\n" + begun2, map[ID]string{1: "begun", 2: "begun"}},
		"a line without end":    {begun1 + strings.Repeat("x", 3*maxLine) + "\n" + begun2, map[ID]string{1: "begun", 2: "begun"}},
		"a line behind junk":    {begun1 + strings.Repeat("x", maxLine) + begun2, map[ID]string{1: "begun"}},
		"two ends":              {begun1 + ended1 + strings.Replace(ended1, "true", "false", 1), map[ID]string{1: "well"}},
		"a beginning is lost":   {ended1 + begun2, map[ID]string{2: "begun"}},
		"lines twice":           {begun1 + begun1 + ended1 + ended1, map[ID]string{1: "well"}},
		"lines in wrong order":  {begun2 + begun1, map[ID]string{2: "begun"}},
		"neither begun nor end": {begun1 + `{"id":1,"at":"2026-01-02T03:04:06Z"}` + "\n", map[ID]string{1: "begun"}},
		"an end without a time": {begun1 + `{"id":1,"end":{"ok":true}}` + "\n", map[ID]string{1: "begun"}},
		"an act without a name": {begun1 + `{"id":2,"at":"2026-01-02T03:04:06Z","begin":{}}` + "\n", map[ID]string{1: "begun"}},
	} {
		t.Run(name, func(t *testing.T) { opens(t, test.content, test.want) })
	}
}

// TestAJournalTornAnywhereOpens cuts a journal at each of its bytes.
func TestAJournalTornAnywhereOpens(t *testing.T) {
	whole := begun1 + ended1 + begun2
	for n := range len(whole) {
		want := map[ID]string{}
		switch {
		case n >= len(begun1+ended1):
			want[1] = "well"
		case n >= len(begun1):
			want[1] = "begun"
		}
		entries, err := parse(strings.NewReader(whole[:n]))
		if got := states(entries); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, %v; want %v", whole[:n], got, err, want)
		}
	}
}

// opens checks that a journal with that content has those entries, and takes another one
// that can be read back.
func opens(t *testing.T, content string, want map[ID]string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, entriesFile), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	if got := states(j.entries); !reflect.DeepEqual(got, want) {
		t.Errorf("%.400q is opened as %v; want %v", content, got, want)
	}
	id := begin(t, j, "acme/app#3", "ccc", "merge")
	shut(t, j)
	got := states(read(t, dir))
	if got[id] != "begun" {
		t.Errorf("after %.400q, what was written is lost", content)
	}
	delete(got, id)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%.400q is %v after a write; want %v", content, got, want)
	}
}

// FuzzParse: in any file, ids grow, entries are whole, and what was read is
// read again when it is written out.
func FuzzParse(f *testing.F) {
	f.Add([]byte(begun1 + ended1 + begun2))
	f.Add([]byte("\n{}\nnull\n[]\n" + `{"id":-1}` + "\n" +
		`{"id":18446744073709551615,"at":"2026-01-02T03:04:05Z","begin":{"ref":"r","sha":"s","act":"a"}}` + "\n"))
	f.Add(bytes.Repeat([]byte("x"), maxLine+10))
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := parse(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		var written bytes.Buffer
		encoder := json.NewEncoder(&written)
		for i, e := range entries {
			if e.ID == 0 || i > 0 && entries[i-1].ID >= e.ID || !e.valid() || e.Begun.IsZero() {
				t.Fatalf("entry %d is %+v", i, e)
			}
			if err := encoder.Encode(e.begin()); err != nil {
				t.Fatal(err)
			}
			if e.Ended.IsZero() {
				continue
			}
			if err := encoder.Encode(e.end()); err != nil {
				t.Fatal(err)
			}
		}
		again, err := parse(&written)
		if err != nil || !reflect.DeepEqual(states(again), states(entries)) {
			t.Errorf("read %+v, then %+v, %v", entries, again, err)
		}
	})
}
