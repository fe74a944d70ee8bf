package verdict

import (
	"errors"
	"strings"
	"testing"
)

// due is a finding of round 1 on the code that grounded shows.
func due() Entry {
	return Entry{ID: "0a1b2c3d", Status: Open, Dimension: Security, Severity: Major, Rule: "security/S3", Path: "store/store.go", Line: 9,
		Claim: "SQL is glued together", Code: glued, First: 1, Last: 1}
}

// TestEarlierFindingsNeedAWord checks that an earlier round's finding does not disappear because no answer
// mentions it.
func TestEarlierFindingsNeedAWord(t *testing.T) {
	const (
		silent  = "does not say what became of it"
		asItWas = "its file is as it was"
		absent  = "what it quotes for that is not there"
		same    = "nothing changed in what it names"
	)
	id := due().ID
	for name, tt := range map[string]struct {
		entry   func(*Entry)
		gone    *Gone
		touched string // the one file that is another one now
		file    string // what store/store.go is now, if not as grounded has it
		kept    string // a part of the reason; "" for an approval
		// lineless says that it is kept on no line, silent that it goes without a word,
		// withdrawn that a dispute of it holds.
		lineless, silent, withdrawn bool
	}{
		"silence":                {touched: "store/store.go", kept: "its code still stands there, and the session " + silent},
		"silence, the code gone": {file: "package store\n", kept: "its code changed, and", lineless: true},
		"silence, said to be repaired, the code gone": {entry: func(e *Entry) { e.Status = ClaimedFixed }, file: "package store\n",
			kept: "its code changed, and", lineless: true},
		"a word on what is said to be repaired": {entry: func(e *Entry) { e.Status = ClaimedFixed }, file: "package store\n",
			gone: &Gone{ID: id, How: "name is checked"}},
		"silence, a claim to have fixed it": {entry: func(e *Entry) { e.Status = ClaimedFixed }, kept: silent},
		"silence on a disputed one":         {entry: func(e *Entry) { e.Status = Disputed }, kept: silent},
		"silence on a part of the code": {entry: func(e *Entry) { e.Code = glued[:20] + "…" },
			kept: "the beginning of its code still stands"},
		"silence, the rest of the code changed": {entry: func(e *Entry) { e.Code = glued[:20] + "…" }, touched: "store/store.go",
			file: "package store\n\n\t" + glued[:20] + " prepared(name)\n", kept: "the beginning of its code still stands"},
		"silence, the file moved":              {entry: func(e *Entry) { e.Path = "old/store.go" }, kept: silent},
		"silence on what nobody has to repair": {entry: func(e *Entry) { e.Severity = Nit }, silent: true},
		"silence on what is tolerated":         {entry: func(e *Entry) { e.Tolerated = true }},
		"silence on what is waived":            {entry: func(e *Entry) { e.Status = Waived }},
		"silence on what is verified":          {entry: func(e *Entry) { e.Status = Verified }},
		"silence on code of no weight":         {entry: func(e *Entry) { e.Code = "{" }, kept: silent, lineless: true},
		"silence on what quotes nothing": {entry: func(e *Entry) { e.Code, e.Line = "", 0 }, touched: "store/store.go",
			kept: silent, lineless: true},
		"silence on the change as a whole": {entry: func(e *Entry) { e.Code, e.Path, e.Line = "", "", 0 }, kept: silent,
			lineless: true},
		"a word on the change as a whole": {entry: func(e *Entry) { e.Code, e.Path, e.Line = "", "", 0 },
			gone: &Gone{ID: id, How: "it is declared now"}},
		"silence on code that was taken away": {entry: func(e *Entry) { e.Code, e.Line = "checked(name)", 0 }, kept: silent,
			lineless: true},
		"silence, that code is there again": {entry: func(e *Entry) { e.Line = 0 }, kept: "its code changed, and", lineless: true},
		"a word without how":                {gone: &Gone{ID: id, How: " "}, touched: "store/store.go", kept: silent},
		"a word on another one":             {gone: &Gone{ID: "ffffffff", How: "read"}, touched: "store/store.go", kept: silent},
		"a word, its file changed":          {gone: &Gone{ID: id, How: "name is checked above it"}, touched: "store/store.go"},
		"a word, nothing changed":           {gone: &Gone{ID: id, How: "it is fixed"}, kept: asItWas},
		"a word on a disputed one": {entry: func(e *Entry) { e.Status = Disputed },
			gone: &Gone{ID: id, How: "name is a constant"}, withdrawn: true},
		"code that settles it elsewhere": {gone: &Gone{ID: id, How: "documented", Path: "./README.md", Quote: "Read me."},
			touched: "README.md"},
		"code elsewhere that is not there": {gone: &Gone{ID: id, How: "documented", Path: "README.md", Quote: "Read it."},
			touched: "README.md", kept: absent},
		"code elsewhere that was there before": {gone: &Gone{ID: id, How: "documented", Path: "README.md", Quote: "Read me."},
			touched: "other.go", kept: same},
		"code elsewhere in no file": {gone: &Gone{ID: id, How: "documented", Path: "none.md", Quote: "Read me."},
			touched: "none.md", kept: absent},
		"a file that was never there": {gone: &Gone{ID: id, How: "deleted", Path: "none.md"}, kept: same},
	} {
		t.Run(name, func(t *testing.T) {
			e, a, g := due(), walked(), grounded()
			if tt.entry != nil {
				tt.entry(&e)
			}
			if tt.gone != nil {
				a.Gone = []Gone{*tt.gone}
			}
			if tt.file != "" {
				g.File = files(map[string]string{"store/store.go": tt.file, "README.md": "Read me.\n"})
			}
			g.Ledger, g.Due = Ledger{e}, []Entry{e}
			g.Touched = func(round int, path string) bool { return round == 1 && path == tt.touched }
			j := Judge(block(encode(t, a))+closing(Approve), nonce, g)
			after := g.Ledger.After(2, j)[0]
			if tt.kept == "" {
				want := map[bool]Status{tt.silent: NotFound, tt.withdrawn: Withdrawn, !tt.silent && !tt.withdrawn: Verified}[true]
				if j.Verdict != Approve || len(j.Answer.Findings) > 0 || e.Stands() && !e.Tolerated && after.Status != want {
					t.Errorf("%s, %s, kept %+v, doubts %q", j.Verdict, after.Status, j.Answer.Findings, j.Doubts)
				}
				return
			}
			if j.Verdict == Approve || j.Conclusive() || len(j.Answer.Findings) != 1 || !strings.Contains(j.Answer.Findings[0].Kept, tt.kept) {
				t.Fatalf("%s, conclusive %v, kept %+v", j.Verdict, j.Conclusive(), j.Answer.Findings)
			}
			if f := j.Answer.Findings[0]; f.ID != id || f.Line == 0 != tt.lineless || f.Line != 0 && f.Line != 3 || f.Severity != Major ||
				!f.Blocks() {
				t.Errorf("kept as %+v", f)
			}
			if after.Status != e.Status || after.Last != 1 {
				t.Errorf("the ledger has it as %+v", after)
			}
			var r Record
			if r.Enter(j); !r.Settled || len(j.Doubts) > 0 {
				t.Errorf("more than the finding speaks against the head: %q", j.Doubts)
			}
		})
	}
}

// TestEarlierFindingsFoundAgain checks that an answer that finds an earlier finding again does not decide it
// twice.
func TestEarlierFindingsFoundAgain(t *testing.T) {
	e, a, g := due(), walked(), grounded()
	a.Findings = []Finding{finding(Major)}
	a.Gone = []Gone{{ID: e.ID, How: "it is fixed"}}
	g.Ledger, g.Due = Ledger{e}, []Entry{e}
	j := Judge(block(encode(t, a))+closing(RequestChanges), nonce, g)
	if len(j.Answer.Findings) != 1 || j.Answer.Findings[0].Kept != "" || j.Answer.Findings[0].ID != e.ID || !j.Conclusive() {
		t.Errorf("found %+v, doubts %q", j.Answer.Findings, j.Doubts)
	}
}

// TestEarlierFindingsInUnreadableFiles checks that the code of a finding does not count as gone if its file
// cannot be read.
func TestEarlierFindingsInUnreadableFiles(t *testing.T) {
	e, g := due(), grounded()
	g.Ledger, g.Due = Ledger{e}, []Entry{e}
	g.File = func(string) ([]byte, error) { return nil, errors.New("the disk is on fire") }
	if j := Judge(block(encode(t, walked()))+closing(Approve), nonce, g); j.Verdict == Approve || len(j.Answer.Findings) != 1 {
		t.Errorf("%s, found %+v", j.Verdict, j.Answer.Findings)
	}
}

// TestJoinPrefersFoundToKept checks that a finding counts as found if one answer kept it and another found it.
func TestJoinPrefersFoundToKept(t *testing.T) {
	kept := finding(Major)
	kept.ID, kept.Kept = "0a1b2c3d", "its code still stands there"
	found := kept
	found.Kept = ""
	part := func(f Finding) Judgement { return Judgement{Complete: true, Answer: Answer{Findings: []Finding{f}}} }
	for _, j := range []Judgement{Join(part(kept), part(found)), Join(part(found), part(kept))} {
		if len(j.Answer.Findings) != 1 || j.Answer.Findings[0].Kept != "" {
			t.Errorf("joined as %+v", j.Answer.Findings)
		}
	}
}

// Every kind of finding can be closed, and only in a way that shows its repair.
func TestEveryKindOfFindingCanBeClosed(t *testing.T) {
	const file, line, other = "store/store.go", 9, "README.md"
	id := due().ID
	kinds := map[string]Entry{
		"a line":          {Path: file, Line: line, Code: glued},
		"removed code":    {Path: file, Code: "checked(name)"},
		"a whole file":    {Path: file},
		"the change":      {},
		"the description": {Code: "It is tested."},
		"the title":       {Code: "Speed up"},
		"a message":       {Code: "Fix nothing"},
	}
	type way struct {
		says     Gone
		touched  string // the one file that is another one now
		restated string // the one text that is another one now
		closes   string // "all", or "the change's" for those in no file
		as       Status
		is       Status // of the entry, if not open
	}
	ways := map[string]way{
		"a bare word":              {says: Gone{How: "read"}},
		"its own file changed":     {says: Gone{How: "read"}, touched: file, closes: "all", as: Verified},
		"another file changed":     {says: Gone{How: "read"}, touched: other, closes: "the change's", as: Verified},
		"code of another file":     {says: Gone{How: "read", Path: other, Quote: "Read me."}, touched: other, closes: "all", as: Verified},
		"another file was deleted": {says: Gone{How: "read", Path: "old.go"}, touched: "old.go", closes: "all", as: Verified},
		"the description says otherwise": {says: Gone{How: "read", Path: "description", Quote: "Nothing is tested."}, restated: DescriptionText,
			closes: "all", as: Verified},
		"the description is shorter": {says: Gone{How: "read", Path: "Description"}, restated: DescriptionText, closes: "all", as: Verified},
		"the title is another":       {says: Gone{How: "read", Path: "title"}, restated: TitleText, closes: "all", as: Verified},
		"the messages are others":    {says: Gone{How: "read", Path: "commit messages"}, restated: MessagesText, closes: "all", as: Verified},
		"a text that is as it was":   {says: Gone{How: "read", Path: "title"}, restated: MessagesText, closes: "the change's"},
		"a dispute that holds":       {says: Gone{How: "it is checked above"}, is: Disputed, closes: "all", as: Withdrawn},
		"a waiver":                   {is: Waived, closes: "all", as: Waived},
	}
	for kind, e := range kinds {
		for how, w := range ways {
			t.Run(kind+", "+how, func(t *testing.T) {
				a, g := walked(), grounded()
				e.ID, e.Status, e.Dimension, e.Severity, e.Rule, e.Claim, e.First, e.Last = id, Open, Security, Major, "security/S3", "wrong", 1, 1
				if w.is != "" {
					e.Status = w.is
				}
				if w.says.How != "" {
					w.says.ID = id
					a.Gone = []Gone{w.says}
				}
				g.Texts = map[string]string{TitleText: "Speed up", DescriptionText: "It is tested.", MessagesText: "Fix nothing"}
				if w.restated != "" {
					g.Texts[w.restated] = "Nothing is tested."
				}
				g.Ledger, g.Due = Ledger{e}, []Entry{e}
				g.Touched = func(_ int, path string) bool {
					if path == "" {
						return w.touched+w.restated != ""
					}
					return path == w.touched
				}
				g.Restated = func(_ int, text string) bool { return text == w.restated }
				after := g.Ledger.After(2, Judge(block(encode(t, a))+closing(Approve), nonce, g))[0]
				closes := w.closes == "all" || w.closes != "" && e.Path == ""
				if closes == after.Stands() || closes && w.as != "" && after.Status != w.as {
					t.Errorf("it is %s", after.Status)
				}
			})
		}
	}
}

// A finding on what the pull request says of itself says which text that is, by the path that it names or by what it quotes,
// and keeps that over the rounds.
func TestAFindingKnowsTheTextThatItIsAbout(t *testing.T) {
	for name, tt := range map[string]struct{ path, quote, text string }{
		"by its name":         {path: "Description", text: DescriptionText},
		"by its quote":        {quote: "Fix nothing", text: MessagesText},
		"by both":             {path: "title", quote: "Speed up", text: TitleText},
		"the change":          {},
		"a file":              {path: "store/store.go", quote: glued},
		"a file of that name": {path: "title", text: ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, g := walked(), grounded()
			g.Texts = map[string]string{TitleText: "Speed up", DescriptionText: "It is tested.", MessagesText: "Fix nothing"}
			f := finding(Major)
			f.Path, f.Quote, f.Line = tt.path, tt.quote, 0
			if name == "a file of that name" {
				g.Changed, a.Files = append(g.Changed, "title"), append(a.Files, "title")
			}
			a.Findings = []Finding{f}
			l := Ledger{}.After(1, Judge(block(encode(t, a))+closing(RequestChanges), nonce, g))
			if place := (Finding{Text: tt.text}).Place(); tt.text != "" && place != "the "+tt.text {
				t.Errorf("it is at %q", place)
			}
			if len(l) != 1 || l[0].Text != tt.text {
				t.Fatalf("the ledger is %+v", l)
			}
			a.Findings, g.Ledger, g.Due = []Finding{}, l, l
			j := Judge(block(encode(t, a))+closing(Approve), nonce, g)
			if len(j.Answer.Findings) != 1 || j.Answer.Findings[0].Text != tt.text {
				t.Errorf("kept as %+v", j.Answer.Findings)
			}
		})
	}
}
