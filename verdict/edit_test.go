package verdict

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestEditsReplaceWholeLines(t *testing.T) {
	type span struct {
		first, last int
		text        string
	}
	for name, tc := range map[string]struct {
		content string
		edits   []span
		want    string // "" where one of them is none
	}{
		"a line":               {"one\ntow\nthree\n", []span{{2, 2, "two"}}, "one\ntwo\nthree\n"},
		"several lines":        {"one\ntow\nthre\nfour\n", []span{{2, 3, "two\nthree"}}, "one\ntwo\nthree\nfour\n"},
		"by more lines":        {"one\nthree\n", []span{{1, 1, "one\ntwo"}}, "one\ntwo\nthree\n"},
		"by fewer":             {"one\none\ntwo\n", []span{{1, 2, "one"}}, "one\ntwo\n"},
		"two at once":          {"oen\nTwo\ntheer\n", []span{{3, 3, "three"}, {1, 1, "one"}}, "one\nTwo\nthree\n"},
		"the last, unended":    {"one\ntow", []span{{2, 2, "two"}}, "one\ntwo"},
		"as Windows ends them": {"one\r\ntow\r\n", []span{{2, 2, "two\nthree"}}, "one\r\ntwo\r\nthree\r\n"},
		"given as Windows":     {"one\ntow\n", []span{{2, 2, "two\r\nthree"}}, "one\ntwo\nthree\n"},
		"overlapping":          {"one\ntow\nthree\n", []span{{1, 2, "two"}, {2, 3, "four"}}, ""},
		"beyond the end":       {"one\n", []span{{2, 2, "two"}}, ""},
		"before the beginning": {"one\n", []span{{0, 1, "two"}}, ""},
		"upside down":          {"one\ntwo\n", []span{{2, 1, "two"}}, ""},
		"nothing new":          {"one\n", []span{{1, 1, "one"}}, ""},
		"a deletion":           {"one\ntwo\n", []span{{1, 1, ""}}, ""},
		"a blank line":         {"one\ntwo\n", []span{{1, 1, " \t"}}, ""},
		"hidden text":          {"one\n", []span{{1, 1, "two\u202e"}}, ""},
		"a carriage return":    {"one\n", []span{{1, 1, "two\rthree"}}, ""},
		"no text":              {"one\n", []span{{1, 1, "\xff"}}, ""},
		"too long":             {"one\n", []span{{1, 1, strings.Repeat("x", maxEdit+1)}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var edits []Edit
			for _, s := range tc.edits {
				if e, ok := NewEdit("id", "a.txt", s.first, s.last, s.text, []byte(tc.content)); ok {
					edits = append(edits, e)
				}
			}
			got, err := Edited("a.txt", []byte(tc.content), edits)
			if ok := err == nil && len(edits) == len(tc.edits); ok != (tc.want != "") || ok && string(got) != tc.want {
				t.Errorf("%q, %v, of %d edits; want %q", got, err, len(edits), tc.want)
			}
			if other, err := Edited("b.txt", []byte(tc.content), edits); err != nil || string(other) != tc.content {
				t.Errorf("another file becomes %q, %v", other, err)
			}
		})
	}
}

// TestAnEditIsForItsLinesAlone: for no others, and for no other text, lines or bounds.
func TestAnEditIsForItsLinesAlone(t *testing.T) {
	const content = "one\ntow\nthree\n"
	e, ok := NewEdit("id", "a.txt", 2, 2, "two", []byte(content))
	if !ok {
		t.Fatal("it is none")
	}
	for name, alter := range map[string]func(e *Edit, content *string){
		"the lines":       func(_ *Edit, content *string) { *content = "one\ntoo\nthree\n" },
		"where they are":  func(_ *Edit, content *string) { *content = "zero\none\ntow\nthree\n" },
		"fewer of them":   func(_ *Edit, content *string) { *content = "one\n" },
		"the text":        func(e *Edit, _ *string) { e.Text = "too" },
		"the first line":  func(e *Edit, _ *string) { e.First = 1 },
		"no first line":   func(e *Edit, _ *string) { e.First = -1 },
		"the last line":   func(e *Edit, _ *string) { e.Last = 3 },
		"no last line":    func(e *Edit, _ *string) { e.Last = 9 },
		"the sum":         func(e *Edit, _ *string) { e.Sum = "" },
		"what is twofold": func(e *Edit, _ *string) { e.First, e.Last = 3, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			altered, text := e, content
			alter(&altered, &text)
			if got, err := Edited("a.txt", []byte(text), []Edit{altered}); !errors.Is(err, ErrNoFit) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestApplicableIsWhatStandsAndIsMinor(t *testing.T) {
	edit := []Edit{{Finding: "a"}}
	for name, tc := range map[string]struct {
		entry Entry
		want  int
	}{
		"open":               {Entry{ID: "a", Severity: Nit, Status: Open}, 1},
		"claimed fixed":      {Entry{ID: "a", Severity: Nit, Status: ClaimedFixed}, 1},
		"back again":         {Entry{ID: "a", Severity: Nit, Status: Regressed}, 1},
		"disputed":           {Entry{ID: "a", Severity: Nit, Status: Disputed}, 0},
		"waived":             {Entry{ID: "a", Severity: Nit, Status: Waived}, 0},
		"verified":           {Entry{ID: "a", Severity: Nit, Status: Verified}, 0},
		"tolerated, and not": {Entry{ID: "a", Severity: Minor, Status: Open, Tolerated: true}, 0},
		"another finding":    {Entry{ID: "b", Severity: Nit, Status: Open}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Record{Edits: edit}).Applicable(Ledger{tc.entry}); len(got) != tc.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestARecordKeepsItsEdits byte for byte, and loses them before anything that later rounds need.
func TestARecordKeepsItsEdits(t *testing.T) {
	text := "\t<b> & \"@you\" -->\n\tü"
	e, ok := NewEdit("id", "a.txt", 1, 1, text, []byte("one\n"))
	record := Record{Verdict: Approve, Edits: []Edit{e}}
	seal, err := record.Seal(Signer{})
	if err != nil || !ok {
		t.Fatal(err, ok)
	}
	if got, err := ParseRecord(seal); err != nil || len(got.Edits) != 1 || got.Edits[0] != e {
		t.Errorf("%+v, %v", got.Edits, err)
	}
	for i := range 40 {
		record.Edits = append(record.Edits, Edit{Finding: fmt.Sprint(i), Text: strings.Repeat("x", maxEdit)})
		record.Ledger = append(record.Ledger, Entry{ID: fmt.Sprint(i)})
	}
	if seal, err = record.Seal(Signer{}); err != nil {
		t.Fatal(err)
	}
	got, err := ParseRecord(seal)
	if err != nil || len(got.Ledger) != 40 || len(got.Edits) == 0 || len(got.Edits) == len(record.Edits) {
		t.Errorf("%d edits and %d findings are left, %v", len(got.Edits), len(got.Ledger), err)
	}
}

func FuzzEdited(f *testing.F) {
	f.Add("one\ntow\n", 2, 2, "two", "")
	f.Fuzz(func(t *testing.T, content string, first, last int, text, sum string) {
		// Of a record that somebody else wrote, nothing may end the agent.
		_, _ = Edited("a", []byte(content), []Edit{{Path: "a", First: first, Last: last, Text: text, Sum: sum}})
		e, ok := NewEdit("id", "a", first, last, text, []byte(content))
		if !ok {
			return
		}
		got, err := Edited("a", []byte(content), []Edit{e})
		if err != nil || string(got) == content {
			t.Errorf("%+v makes %q of %q, %v", e, got, content, err)
		}
		if again, err := Edited("a", got, []Edit{e}); err == nil && first == last && !strings.Contains(text, "\n") {
			t.Errorf("it fits what it has made, %q", again)
		}
	})
}
