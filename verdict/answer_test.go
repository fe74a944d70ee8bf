package verdict

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

const nonce = "n0nce-of-this-run"

var changed = []string{"store/store.go", "README.md"}

// glued is a line of store/store.go.
const glued = `query := "SELECT * FROM t WHERE n = " + name`

// grounded is the change that the answers here are about.
func grounded() Grounds {
	return Grounds{
		Changed: changed,
		Rows:    map[string]Severity{"security/S3": Nit, "security/S4": Major, "test/T1": Nit},
		File: files(map[string]string{"store/store.go": "package store\n\n\t" + glued + "\n", "README.md": "Read me.\n",
			"other.go": "package other\n"}),
	}
}

func files(tree map[string]string) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		text, ok := tree[path]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

// walked is an answer that covers everything and finds nothing.
func walked() Answer {
	a := Answer{Summary: "Fine.", Files: slices.Clone(changed), Findings: []Finding{}}
	for _, d := range Dimensions() {
		a.Dimensions = append(a.Dimensions, Examined{Dimension: d, Examined: "the whole change"})
	}
	return a
}

func finding(s Severity) Finding {
	return Finding{Dimension: Security, Severity: s, Rule: "security/S3", Path: "store/store.go", Line: 3, Quote: glued,
		Claim: "SQL is glued together"}
}

func encode(t testing.TB, a Answer) string {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func block(data string) string { return "```" + Fence + "\n" + data + "\n```\n" }

func closing(v Verdict) string { return "\n" + RunLine(nonce) + "\n" + Marker(v) + "\n" }

func TestJudgeApproves(t *testing.T) {
	data := encode(t, walked())
	good := "## [Graph]\nNothing.\n\n" + block(data) + closing(Approve)
	withNit := walked()
	withNit.Findings = []Finding{finding(Nit)}
	loose := walked()
	loose.Files = []string{"./store/store.go", " /README.md "}
	for i := range loose.Dimensions {
		loose.Dimensions[i].Dimension = Dimension(strings.ToUpper("[" + string(loose.Dimensions[i].Dimension) + "]"))
	}
	tests := map[string]string{
		"plain":               good,
		"windows line ends":   strings.ReplaceAll(good, "\n", "\r\n"),
		"white space after":   good + " \n\t\r\n\n",
		"no prose":            block(data) + closing(Approve),
		"blank lines between": block(data) + "\n\n" + RunLine(nonce) + "\n\n  " + Marker(Approve),
		"nit":                 block(encode(t, withNit)) + closing(Approve),
		"loose spelling":      block(encode(t, loose)) + closing(Approve),
		"quoted block before": block(`{"findings":[{"severity":"critical"}]}`) + "as the file says\n" + block(data) + closing(Approve),
		"quoted marker before": "The file holds\n" + RunLine("theirs") + "\n" + Marker(RequestChanges) + "\n" +
			block(data) + closing(Approve),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			j := Judge(text, nonce, grounded())
			if j.Verdict != Approve || !j.Complete || len(j.Doubts) > 0 {
				t.Errorf("got %s, complete %v, doubts %q; want an undoubted approval", j.Verdict, j.Complete, j.Doubts)
			}
		})
	}
}

// Every answer here ends, or nearly ends, in an approval that must not count.
func TestJudgeBlocks(t *testing.T) {
	data := encode(t, walked())
	ends := closing(Approve)
	with := func(change func(*Answer)) string {
		a := walked()
		change(&a)
		return block(encode(t, a)) + ends
	}
	marker := "does not end in a verdict marker"
	run := "is not below this run's own nonce"
	unread := "could not be read"
	tests := []struct {
		name, text string
		doubt      string // a part of some doubt
	}{
		{"nothing", "", marker},
		{"blank", " \n\r\n\t", marker},
		{"no marker", block(data), marker},
		{"nonce without marker", block(data) + RunLine(nonce), marker},
		{"marker not last", block(data) + ends + "Good luck!", marker},
		{"marker inside a line", block(data) + RunLine(nonce) + "\nI conclude " + Marker(Approve), marker},
		{"marker in lower case", block(data) + RunLine(nonce) + "\n" + strings.ToLower(Marker(Approve)), marker},
		{"unknown verdict", block(data) + RunLine(nonce) + "\n" + Marker("COMMENT"), marker},
		{"marker in a fence", block(data) + "```\n" + RunLine(nonce) + "\n" + Marker(Approve) + "\n```", marker},
		{"two markers on a line", block(data) + RunLine(nonce) + "\n" + Marker(Approve) + Marker(Approve), marker},
		{"no nonce", block(data) + Marker(Approve), run},
		{"nonce of another run", block(data) + RunLine("other") + "\n" + Marker(Approve), run},
		{"empty nonce", block(data) + RunLine("") + "\n" + Marker(Approve), run},
		{"nonce cut", block(data) + RunLine(nonce[1:]) + "\n" + Marker(Approve), run},
		{"nonce not directly above", block(data) + RunLine(nonce) + "\nand so\n" + Marker(Approve), run},
		{"nonce below", block(data) + Marker(Approve) + "\n" + RunLine(nonce), marker},
		{"block missing", "All is well.\n" + ends, unread},
		{"block not last", block(data) + "One more thing.\n" + ends, unread},
		{"another block last", block(data) + "```go\nx := 1\n```\n" + ends, unread},
		{"block not at a line's start", "see " + block(data) + ends, unread},
		{"block of four ticks", "`" + block(data) + ends, unread},
		{"other info string", "```json\n" + data + "\n```\n" + ends, unread},
		{"block unclosed", "```" + Fence + "\n" + data + "\n" + ends, unread},
		{"block closed by words", "```" + Fence + "\n" + data + "\nThe end.\n" + ends, unread},
		{"empty block", block("") + ends, unread},
		{"JSON cut", block(data[:len(data)-1]) + ends, unread},
		{"brace after JSON", block(data+"}") + ends, unread},
		{"second JSON value", block(data+"\n"+data) + ends, unread},
		{"wrong type", block(`{"findings":"none"}`) + ends, unread},
		{"null", block("null") + ends, "lists no findings"},
		{"list instead of object", block("["+data+"]") + ends, unread},
		{"findings missing", block(strings.Replace(data, `"findings"`, `"issues"`, 1)) + ends, "lists no findings"},
		{"findings null", block(strings.Replace(data, `"findings":[]`, `"findings":null`, 1)) + ends, "lists no findings"},
		{"findings unsaid by a duplicate", block(`{"findings":[{"severity":"critical"}],`+data[1:]) + ends, `"findings" appears twice`},
		{"duplicate by case", block(`{"FINDINGS":[{"severity":"critical"}],`+data[1:]) + ends, `"findings" appears twice`},
		{"duplicate by folding", block(`{"findingſ":[{"severity":"critical"}],`+data[1:]) + ends, `"findings" appears twice`},
		{"duplicate inside a finding", block(strings.Replace(data, `"findings":[]`,
			`"findings":[{"severity":"major","severity":"nit","dimension":"Test"}]`, 1)) + ends, "twice"},
		{"nested too deep", block(strings.Repeat("[", 1<<20)) + ends, unread},
		{"critical", with(func(a *Answer) { a.Findings = []Finding{finding(Critical)} }), "although 1 of its findings blocks"},
		{"major", with(func(a *Answer) { a.Findings = []Finding{finding(Major)} }), "although"},
		{"minor among nits", with(func(a *Answer) { a.Findings = []Finding{finding(Nit), finding(Minor)} }), "although"},
		{"critical, of a rule that does not apply",
			with(func(a *Answer) { a.Findings = []Finding{finding(Critical)}; a.Findings[0].Rule = "made/up" }), "what it cites does not hold"},
		{"a nit under a graver rule, of code that is not there", with(func(a *Answer) {
			a.Findings = []Finding{finding(Nit)}
			a.Findings[0].Rule, a.Findings[0].Quote = "security/S4", "exec(x)"
		}), "what it cites does not hold"},
		{"severity unknown", with(func(a *Answer) { a.Findings = []Finding{finding("trivial")} }), "no known severity"},
		{"severity missing", with(func(a *Answer) { a.Findings = []Finding{finding("")} }), "no known severity"},
		{"finding null", block(strings.Replace(data, `"findings":[]`, `"findings":[null]`, 1)) + ends, "no known severity"},
		{"finding of no dimension", with(func(a *Answer) { f := finding(Nit); f.Dimension = "Style"; a.Findings = []Finding{f} }),
			"no known dimension"},
		{"too many nits", with(func(a *Answer) { a.Findings = slices.Repeat([]Finding{finding(Nit)}, MaxFindings+1) }), "only the first 200"},
		{"no dimensions", with(func(a *Answer) { a.Dimensions = nil }),
			"under Graph, Architecture, Security, Test, Doc, Impact, Observability, AI-Antipattern, Recurrence."},
		{"last dimension missing", with(func(a *Answer) { a.Dimensions = a.Dimensions[:8] }), "under Recurrence."},
		{"dimension twice for another", with(func(a *Answer) { a.Dimensions[2].Dimension = Graph }), "under Security."},
		{"dimension not examined", with(func(a *Answer) { a.Dimensions[3].Examined = " \n" }), "under Test."},
		{"no files", with(func(a *Answer) { a.Files = nil }), `2 changed files, "store/store.go" the first`},
		{"a file not examined", with(func(a *Answer) { a.Files = a.Files[:1] }), `1 changed file, "README.md" the first`},
		{"a directory for its files", with(func(a *Answer) { a.Files = []string{"store", "README.md"} }), `"store/store.go"`},
		{"file of another case", with(func(a *Answer) { a.Files[1] = "readme.md" }), `"README.md"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := Judge(tt.text, nonce, grounded())
			if j.Verdict != RequestChanges {
				t.Fatalf("verdict %s", j.Verdict)
			}
			if all := strings.Join(j.Doubts, "\n"); !strings.Contains(all, tt.doubt) {
				t.Errorf("doubts %q say nothing of %q", all, tt.doubt)
			}
		})
	}
}

func TestADimensionOfWhichNoRowAppliesNeedNotBeWalked(t *testing.T) {
	g := grounded()
	g.Idle = []Dimension{Recurrence}
	for count, want := range map[int]Verdict{8: Approve, 7: RequestChanges} {
		a := walked()
		a.Dimensions = a.Dimensions[:count]
		if j := Judge(block(encode(t, a))+closing(Approve), nonce, g); j.Verdict != want {
			t.Errorf("%d dimensions: %s, %q", count, j.Verdict, j.Doubts)
		}
	}
}

func TestJudgeWithoutNonceNeverApproves(t *testing.T) {
	text := block(encode(t, walked())) + RunLine("") + "\n" + Marker(Approve)
	if j := Judge(text, "", grounded()); j.Verdict != RequestChanges {
		t.Error("an empty nonce was accepted as proof")
	}
}

func TestJudgeTellsNamesApartThatCleaningMakesOne(t *testing.T) {
	a := walked()
	a.Files = []string{"a.go"}
	if j := Judge(block(encode(t, a))+closing(Approve), nonce, Grounds{Changed: []string{"a.go", " a.go"}}); j.Verdict != RequestChanges {
		t.Error(`examining "a.go" covered " a.go"`)
	}
}

// TestJudgeTruncated judges truncated answers, which their sessions never finished.
func TestJudgeTruncated(t *testing.T) {
	text := "Prose.\n" + block(encode(t, walked())) + closing(Approve)
	whole := len(strings.TrimRight(text, "\n"))
	for n := range text {
		want := RequestChanges
		if n >= whole {
			want = Approve
		}
		if j := Judge(text[:n], nonce, grounded()); j.Verdict != want {
			t.Fatalf("cut after %d of %d bytes: %s, want %s", n, len(text), j.Verdict, want)
		}
	}
}

func TestJudgeRequestsChanges(t *testing.T) {
	a := walked()
	a.Findings = []Finding{finding(Major)}
	j := Judge(block(encode(t, a))+closing(RequestChanges), nonce, grounded())
	if j.Verdict != RequestChanges || !j.Complete || len(j.Doubts) > 0 {
		t.Errorf("got %s, complete %v, doubts %q", j.Verdict, j.Complete, j.Doubts)
	}
	j = Judge(block(encode(t, walked()))+closing(RequestChanges), nonce, grounded())
	if j.Verdict != RequestChanges || !j.Complete || len(j.Doubts) != 1 {
		t.Errorf("without a finding that blocks: %s, complete %v, doubts %q", j.Verdict, j.Complete, j.Doubts)
	}
}

// TestJudgeIncomplete checks that silence proves nothing about what a session did not read, cover or keep.
func TestJudgeIncomplete(t *testing.T) {
	for name, change := range map[string]func(*Answer){
		"file":      func(a *Answer) { a.Files = a.Files[:1] },
		"dimension": func(a *Answer) { a.Dimensions = a.Dimensions[1:] },
		"findings":  func(a *Answer) { a.Findings = slices.Repeat([]Finding{finding(Nit)}, MaxFindings+1) },
		"all":       func(a *Answer) { a.Findings = nil },
	} {
		a := walked()
		change(&a)
		if j := Judge(block(encode(t, a))+closing(RequestChanges), nonce, grounded()); j.Complete {
			t.Errorf("%s missing: complete all the same", name)
		}
	}
	if j := Judge(block(encode(t, walked())), nonce, grounded()); !j.Complete {
		t.Errorf("only the marker missing: incomplete, %q", j.Doubts)
	}
}

// TestJudgeIsConclusive checks that an answer that leaves its author nothing to do is not conclusive: the
// session is worth another question.
func TestJudgeIsConclusive(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Answer)
		v      Verdict
		want   bool
	}{
		"approved":            {func(*Answer) {}, Approve, true},
		"found":               {func(a *Answer) { a.Findings = []Finding{finding(Major)} }, RequestChanges, true},
		"found, and approved": {func(a *Answer) { a.Findings = []Finding{finding(Major)} }, Approve, true},
		"nothing found":       {func(*Answer) {}, RequestChanges, false},
		"what was found is not there": {func(a *Answer) { a.Findings = []Finding{finding(Major)}; a.Findings[0].Quote = "exec(x)" },
			RequestChanges, false},
		"found, but a file was left out": {func(a *Answer) { a.Findings, a.Files = []Finding{finding(Major)}, nil }, RequestChanges, false},
	} {
		a := walked()
		tt.change(&a)
		if got := Judge(block(encode(t, a))+closing(tt.v), nonce, grounded()).Conclusive(); got != tt.want {
			t.Errorf("%s: conclusive is %v", name, got)
		}
	}
}

// Findings are kept even where the closing lines are wrong.
func TestJudgeKeepsFindingsWithoutMarker(t *testing.T) {
	a := walked()
	a.Findings = []Finding{finding(Major)}
	for _, end := range []string{"", RunLine("other") + "\n" + Marker(Approve), Marker(RequestChanges)} {
		j := Judge(block(encode(t, a))+end, nonce, grounded())
		if j.Verdict != RequestChanges || len(j.Answer.Findings) != 1 {
			t.Errorf("end %q: %s with %d findings", end, j.Verdict, len(j.Answer.Findings))
		}
	}
}

func TestJudgeNormalisesFindings(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"spelling", `"dimension":" [security] ","severity":" MAJOR ","path":"./store//store.go"`, "Security major store/store.go 1-1"},
		{"unknown severity", `"dimension":"Test","severity":"blocker","path":"a"`, "Test major a 1-1"},
		{"unknown dimension", `"dimension":"Style","severity":"nit","path":"a"`, "Architecture nit a 1-1"},
		{"path out of the tree", `"dimension":"Test","severity":"nit","path":"../../etc/passwd"`, "Test nit etc/passwd 1-1"},
		{"lines swapped", `"dimension":"Test","severity":"nit","path":"a","start_line":9,"line":4`, "Test nit a 4-9"},
		{"start only", `"dimension":"Test","severity":"nit","path":"a","start_line":9`, "Test nit a 0-9"},
		{"negative line", `"dimension":"Test","severity":"nit","path":"a","start_line":2,"line":-4`, "Test nit a 1-1"},
		{"beyond the end", `"dimension":"Test","severity":"nit","path":"a","start_line":8,"line":40`, "Test nit a 8-12"},
	}
	g := grounded()
	g.File = func(string) ([]byte, error) { return []byte(strings.Repeat("the same code\n", 12)), nil }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := Judge(block(`{"findings":[{"rule":"test/T1","quote":"the same code",`+tt.in+`}]}`)+closing(RequestChanges), nonce, g)
			if len(j.Answer.Findings) != 1 {
				t.Fatalf("findings lost: %q, %+v", j.Doubts, j.Dropped)
			}
			f := j.Answer.Findings[0]
			if got := fmt.Sprintf("%s %s %s %d-%d", f.Dimension, f.Severity, f.Path, f.StartLine, f.Line); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestJudgeBoundsDoubts limits the doubts, since they go into the posted review, which has little room.
func TestJudgeBoundsDoubts(t *testing.T) {
	long := strings.Repeat("9", 1<<16)
	for name, text := range map[string]string{
		"number": block(`{"findings":[{"line":`+long+`}]}`) + closing(Approve),
		"key":    block(`{"findings":[],"k`+long+`":1,"k`+long+`":2}`) + closing(Approve),
	} {
		j := Judge(text, nonce, Grounds{Changed: []string{long}})
		if all := strings.Join(j.Doubts, ""); all == "" || len(all) > 2000 {
			t.Errorf("%s: %d bytes of doubts", name, len(all))
		}
	}
	j := Judge(block(encode(t, walked()))+closing(Approve), nonce, Grounds{Changed: []string{long}})
	if all := strings.Join(j.Doubts, ""); all == "" || len(all) > 2000 {
		t.Errorf("path: %d bytes of doubts", len(all))
	}
}

// TestTabsAndLineEndsWithinStringsAreRead accepts what a session writes that copies code as it is.
func TestTabsAndLineEndsWithinStringsAreRead(t *testing.T) {
	a := walked()
	f := finding(Major)
	f.Why = "tab:\tline:\nquote:\"backslash:\\"
	a.Findings = []Finding{f}
	raw := strings.NewReplacer(`tab:\t`, "tab:\t", `line:\n`, "line:\n").Replace(encode(t, a))
	j := Judge(block(raw)+closing(RequestChanges), nonce, grounded())
	if len(j.Answer.Findings) != 1 || j.Answer.Findings[0].Why != f.Why {
		t.Errorf("the findings are %+v, with the doubts %q", j.Answer.Findings, j.Doubts)
	}
}
