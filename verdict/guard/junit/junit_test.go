package junit_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"touchstone/verdict/guard/junit"
)

// report returns a report with cases: "class|name", or "class|name|content" with the content of the case's
// element.
func report(cases ...string) []byte {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><testsuites><testsuite name="all">`)
	for _, c := range cases {
		part := append(strings.Split(c, "|"), "")
		fmt.Fprintf(&b, `<testcase classname=%q name=%q time="0.1">%s</testcase>`, part[0], part[1], part[2])
	}
	b.WriteString(`</testsuite></testsuites>`)
	return []byte(b.String())
}

func runs(t *testing.T, base, head []byte) *junit.Runs {
	t.Helper()
	r, err := junit.Read([][]byte{base}, [][]byte{head})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCompare(t *testing.T) {
	r := runs(t,
		report("a|stays", "a|goes", "a|rests", "a|fails|<failure/>", "a|rested|<skipped/>", "a|flaky"),
		report("a|stays", "a|rests|<skipped message='later'/>", "a|fails|<skipped/>", "a|new", "a|flaky|<flakyFailure>x</flakyFailure>"))
	for _, c := range []struct {
		name string
		got  []junit.Case
		want string
	}{
		{"missing", r.Missing(), "[a: goes]"},
		{"skipped", r.Skipped(), "[a: rests]"},
		{"retried", r.Retried(), "[a: flaky]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// A case with two reports passed if it passed once, and was retried.
func TestRetriedTestPassesIfItPassedOnce(t *testing.T) {
	r := runs(t, report("a|x", "a|y"), report("a|x|<failure/>", "a|x", "a|y", "a|y"))
	if got := fmt.Sprint(r.Retried(), r.Missing()); got != "[a: x] []" {
		t.Errorf("got %s", got)
	}
}

// Every runner joins the names of groups and tests in its own way.
func TestTestsAreFoundInReportsOfEveryRunner(t *testing.T) {
	r := runs(t, report(), report(
		"example.com/store|TestSearch/finds_all", "tests.test_pay.TestPay|test_pay[1-EUR]", "src/a.test.ts|cart > adds two",
		"app|tests::adds", "spec.user_spec|User has a name", "N.PayTests|Pays(amount: 1)", "a.X|twice", "b.Y|twice|<failure/>",
		"c|rests|<skipped/>"))
	for _, c := range []struct {
		name   string
		within []string
		want   bool
	}{
		{"finds all", []string{"store/store_test.go"}, true},
		{"test_pay", []string{"TestPay"}, true},
		{"adds two", nil, true},
		{"adds", nil, true},
		{"has a name", nil, true},
		{"Pays", nil, true},
		{"twice", []string{"X"}, true},
		{"twice", []string{"Y"}, false},
		{"twice", nil, false},
		{"rests", nil, false},
		{"unknown", nil, false},
	} {
		if got := r.Passed(c.name, c.within); got != c.want {
			t.Errorf("Passed(%q, %q) = %t", c.name, c.within, got)
		}
	}
}

// A test with the same name that existed before does not replace a removed test.
func TestSameNameElsewhereReplacesNoRemovedTest(t *testing.T) {
	r := runs(t, report("a.X|twice", "b.Y|twice", "a.X|once"), report("b.Y|twice", "c.Z|once"))
	if r.Passed("twice", []string{"X"}) || !r.Passed("twice", []string{"Y"}) || !r.Passed("once", []string{"X"}) {
		t.Error("the test of b.Y counts as that of a.X, or one that moved as gone")
	}
}

func TestReadRefusesWhatIsNoReport(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "another document": "<html><p/></html>", "half a report": `<testsuite><testcase name="a">`, "JSON": "{}",
	} {
		if _, err := junit.Read(nil, [][]byte{[]byte(text)}); err == nil || !strings.Contains(err.Error(), "report 1 of the head") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The code under test writes the report: the amount that is read is bounded, and other content of an element
// is ignored.
func TestReadIsBounded(t *testing.T) {
	many := strings.Repeat("<x><skipped/></x>", 20_000)
	if r := runs(t, report("a|b"), report("a|b|"+many)); len(r.Skipped())+len(r.Missing()) != 0 {
		t.Errorf("a case with much in it that is nothing: %v, %v", r.Skipped(), r.Missing())
	}
	long := strings.Repeat("x", 1<<20)
	if got := runs(t, report("a|"+long), report()).Missing(); len(got) != 1 || len(got[0].Name) > 1000 {
		t.Errorf("of a name of 1 MiB there are %d bytes", len(fmt.Sprint(got)))
	}
	var all strings.Builder
	for i := range 200_001 {
		fmt.Fprintf(&all, `<testcase name="%d"/>`, i)
	}
	if _, err := junit.Read(nil, [][]byte{[]byte("<testsuite>" + all.String() + "</testsuite>")}); err == nil ||
		!strings.Contains(err.Error(), "more than 200000 cases") {
		t.Errorf("of more cases than any runner has: %v", err)
	}
	for name, tc := range map[string]struct{ text, want string }{
		"many elements within each other": {strings.Repeat("<testsuite>", 101), "more than 100 deep"},
		"many attributes":                 {"<testsuite" + strings.Repeat(` a=">"`, 1001), "more than 1000 attributes"},
		"many long names":                 {string(hostile(32 << 20)["blanks"]()), "too many and too long"},
		"many attributes without quotes":  {"<testsuite" + strings.Repeat(` a=b`, 1001), "no JUnit report"},
	} {
		if _, err := junit.Read(nil, [][]byte{[]byte(tc.text)}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	printed := strings.Repeat("a=b ", 2000)
	if r := runs(t, report("a|b"), report("a|b|<system-out><![CDATA["+printed+"]]>"+printed+"</system-out>")); len(r.Missing()) != 0 {
		t.Error("what a test printed counts as attributes")
	}
}

// hostile returns reports with the highest cost for their size.
func hostile(size int) map[string]func() []byte {
	repeated := func(begin, part, end string) func() []byte {
		return func() []byte {
			return []byte(begin + strings.Repeat(part, (size-len(begin)-len(end))/len(part)) + end)
		}
	}
	long := func(n int, part string) func() []byte {
		return func() []byte {
			all := bytes.NewBuffer(make([]byte, 0, size))
			all.WriteString("<testsuite>")
			for i := 0; i < 200_000 && all.Len() < size-1000; i++ {
				fmt.Fprintf(all, `<testcase classname="%0*d" name="%s%d"/>`, n, i, part, i)
			}
			all.WriteString("</testsuite>")
			return all.Bytes()
		}
	}
	return map[string]func() []byte{
		"nested":     repeated("<testsuite>", "<testsuite>", ""),
		"attributes": repeated("<testsuite", ` a=""`, "/>"),
		"parts":      repeated(`<testsuite><testcase name="a">`, "<x><skipped/></x>", "</testcase></testsuite>"),
		"output":     repeated("<testsuite><system-out>", "x", "</system-out></testsuite>"),
		"blanks":     long(100, strings.Repeat("a_b ", 50)),
		"names":      long(150, strings.Repeat("x", 140)),
		"usual":      long(40, "tests some thing "),
	}
}

// zeros is a report with the given number of bytes.
type zeros int64

func (z *zeros) Read(p []byte) (int, error) {
	if *z == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), int64(*z))
	*z -= zeros(n)
	return int(n), nil
}

// TestNoMoreIsReadThanIsTaken: a commit's reports together are not read beyond the bound.
func TestNoMoreIsReadThanIsTaken(t *testing.T) {
	const most, whole = 64 << 20, 80 << 20
	first, second := zeros(most-1), zeros(whole)
	reports, err := junit.Append(nil, &first)
	if err != nil || len(reports) != 1 || len(reports[0]) != most-1 {
		t.Fatalf("a report that is taken: %d reports, %v", len(reports), err)
	}
	if _, err := junit.Append(reports, &second); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("a report that is too large beside it: %v", err)
	}
	if read := whole - second; read > 1<<10 {
		t.Errorf("%d bytes of it are read, where one is left", read)
	}
}

// BenchmarkMemory reports the memory for the largest reports, including their text. It is the peak of the
// process, so run each benchmark alone.
func BenchmarkMemory(b *testing.B) {
	for name, write := range hostile(64 << 20) {
		b.Run(name, func(b *testing.B) {
			text := write()
			var refused error
			for b.Loop() {
				_, refused = junit.Read([][]byte{text}, [][]byte{text})
			}
			status, _ := os.ReadFile("/proc/self/status")
			for line := range strings.Lines(string(status)) {
				if size, ok := strings.CutPrefix(line, "VmHWM:"); ok {
					b.Logf("peak %s, refused: %v", strings.TrimSpace(size), refused)
				}
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(report("a|b|<skipped/>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := junit.Read([][]byte{text}, [][]byte{text})
		if err == nil && len(r.Missing())+len(r.Skipped()) > 0 {
			t.Error("the same report twice differs")
		}
	})
}
