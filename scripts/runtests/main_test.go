package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// module makes a module with the test files, and goes there.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "-mod=mod -vet=off")
}

func TestLastLineCounts(t *testing.T) {
	const head = "package a\n\nimport \"testing\"\n\n"
	for name, tc := range map[string]struct {
		files map[string]string
		fails bool
		want  []string
		lacks string
	}{
		"all is well": {map[string]string{
			"a_test.go": head + "func TestOne(t *testing.T) { t.Log(\"chatter\") }\nfunc TestTwo(t *testing.T) { t.Run(\"part\", func(t " +
				"*testing.T) {}) }\n",
		}, false, []string{`(?m)^ok  \texample\t`, `\ntests: 3 passed, 0 failed, 0 skipped in \d+s\n$`}, "chatter"},
		"skipped for want of the same thing": {map[string]string{
			"a_test.go": head + "func TestOne(t *testing.T) { t.Skip(\"SKIPPED: Chromium is not installed: apt install chromium\") }\n" +
				"func TestTwo(t *testing.T) { t.Skip(\"SKIPPED: Chromium is not installed: apt install chromium\") }\nfunc TestThree(t *testing.T) " +
				"{ t.SkipNow() }\n",
		}, false, []string{`0 passed, 0 failed, 3 skipped in \d+s; skipped because: Chromium is not installed: apt install chromium; no ` +
			`reason was given\n$`}, "SKIPPED"},
		"one fails": {map[string]string{
			"a_test.go":   head + "func TestOne(t *testing.T) { t.Error(\"what went wrong\") }\nfunc TestTwo(t *testing.T) {}\n",
			"b/b_test.go": "package b\n\nimport \"testing\"\n\nfunc TestThree(t *testing.T) {}\n",
		}, true, []string{"what went wrong", `\ntests: 2 passed, 1 failed, 0 skipped in \d+s; failed packages: example\n$`}, ""},
		"one panics": {map[string]string{
			"a_test.go": head + "func TestOne(t *testing.T) { panic(\"out of the blue\") }\n",
		}, true, []string{"out of the blue", `1 failed, 0 skipped in \d+s; failed packages: example\n$`}, ""},
		"does not build": {map[string]string{
			"a_test.go": head + "func TestOne(t *testing.T) { missing() }\n",
		}, true, []string{"undefined: missing", `0 passed, 0 failed, 0 skipped in \d+s; failed packages: example\n$`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			module(t, tc.files)
			var out strings.Builder
			err := run(t.Context(), []string{"./..."}, &out)
			if (err != nil) != tc.fails {
				t.Errorf("it returns %v", err)
			}
			for _, want := range tc.want {
				if !regexp.MustCompile(want).MatchString(out.String()) {
					t.Errorf("no %s in\n%s", want, out.String())
				}
			}
			if tc.lacks != "" && strings.Contains(out.String(), tc.lacks) {
				t.Errorf("%s in\n%s", tc.lacks, out.String())
			}
		})
	}
}

// TestWhatFailsIsRunAgainAlone checks that with -again a test that fails among others and passes alone is
// named and passes, and that failures which are not a matter of chance fail.
func TestWhatFailsIsRunAgainAlone(t *testing.T) {
	const head = `package a

import (
	"flag"
	"os"
	"testing"
)

var _ = flag.Int("from", 0, "a flag of the tests' own")

func again() bool {
	_, err := os.Stat("before")
	os.WriteFile("before", nil, 0o600)
	return err == nil
}

func once(t *testing.T) {
	if !again() {
		t.Error("the first time")
	}
}
`
	for name, tc := range map[string]struct {
		tests string
		most  string
		fails bool
		want  string
	}{
		"unsteady":      {"func TestOne(t *testing.T) { once(t) }", "1", false, `UNSTEADY: .*map\[example:\[TestOne\]\]`},
		"excused never": {"func TestOne(t *testing.T) { once(t) }", "0", true, `1 failed`},
		"fails again":   {"func TestOne(t *testing.T) { once(t); t.Error(1) }", "1", true, `(?s)once more, alone: TestOne.*1 failed`},
		"panics once": {`func TestOne(t *testing.T) {
	if !again() {
		panic("out of the blue")
	}
}`, "1", true, `blue`},
		"more than may": {"func TestOne(t *testing.T) { once(t) }\nfunc TestTwo(t *testing.T) { t.Error(2) }", "1", true, `2 failed`},
	} {
		t.Run(name, func(t *testing.T) {
			module(t, map[string]string{"a_test.go": head + tc.tests})
			var out strings.Builder
			if err := run(t.Context(), []string{"-again=" + tc.most, "-shuffle=on", "./...", "-from", "1"}, &out); (err != nil) != tc.fails {
				t.Errorf("it returns %v:\n%s", err, out.String())
			}
			if !regexp.MustCompile(tc.want).MatchString(out.String()) {
				t.Errorf("no %s in\n%s", tc.want, out.String())
			}
		})
	}
}

// TestEachPackageIsInOneOfTheSamples checks that each package is in exactly one of the -every samples, except
// for those that are left out.
func TestEachPackageIsInOneOfTheSamples(t *testing.T) {
	test := "\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {}\n"
	module(t, map[string]string{
		"a/a_test.go": "package a" + test, "b/b_test.go": "package b" + test, "b/c/c_test.go": "package c" + test, "bc/bc.go": "package bc\n",
		"d/d_test.go": "package d" + test,
	})
	for _, tc := range []struct {
		without []string
		every   int
		want    map[string]string // by what is said of a sample
	}{
		{nil, 2, map[string]string{
			"every 2 packages, from number 1 on: 2 of 4\n": "./a ./b/c", "every 2 packages, from number 2 on: 2 of 4\n": "./b ./d",
		}},
		{[]string{"./b/..."}, 1, map[string]string{"": "./a ./d"}},
		{[]string{"./a", "./b"}, 2, map[string]string{
			"every 2 packages, from number 1 on: 1 of 2\n": "./b/c", "every 2 packages, from number 2 on: 1 of 2\n": "./d",
		}},
	} {
		seen := map[string]bool{}
		for range 64 { // by which each is drawn, but for one run in 2^63
			if len(seen) == len(tc.want) {
				break
			}
			var out strings.Builder
			args, err := choose(t.Context(), []string{"-shuffle=on", "./...", "-seed=1"}, tc.without, tc.every, &out)
			if err != nil {
				t.Fatal(err)
			}
			want, known := tc.want[out.String()]
			if got := strings.Join(args, " "); !known || got != "-shuffle=on "+want+" -seed=1" {
				t.Fatalf("without %q a sample that says %q is %q", tc.without, out.String(), got)
			}
			seen[out.String()] = true
		}
		if len(seen) != len(tc.want) {
			t.Errorf("without %q only these are drawn: %v", tc.without, seen)
		}
	}
	if _, err := choose(t.Context(), []string{"./..."}, []string{"./gone"}, 1, io.Discard); err == nil {
		t.Error("what is left out need not be there")
	}
	var out strings.Builder
	err := run(t.Context(), []string{"-again=1", "-vet=off", "-without=./a ./b/...", "-every=1", "-shuffle=on", "./..."}, &out)
	if err != nil || !regexp.MustCompile(`^ok  \texample/d\t.*\ntests: 1 passed, 0 failed`).MatchString(out.String()) {
		t.Errorf("the tests of what is left end in %v:\n%s", err, out.String())
	}
}
