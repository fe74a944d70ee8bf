package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	write := func(content string) string {
		path := filepath.Join(t.TempDir(), "script.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	print := []string{"-p", "--output-format", "stream-json", "--verbose", "--tools", "Read,Grep"}
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown flag", []string{"--no-such-flag"}, "unknown option '--no-such-flag'"},
		{"flag without its value", []string{"--model"}, "argument missing"},
		{"not the stream", []string{"-p", "--output-format", "text"}, "stream-json"},
		{"no script", print, "--script FILE"},
		{"script not there", append(print, "--script", filepath.Join(t.TempDir(), "none")), "open the script"},
		{"script with a misspelt key", append(print, "--script", write(`{"defect":[]}`)), `unknown field "defect"`},
		{"script that leaves the directory", append(print, "--script", write(`{"defects":[{"path":"../x","contains":"y"}]}`)),
			"inside the working directory"},
		{"unknown fault", append(print, "--script", write(`{"faults":{"reviewer":["no-change"]}}`)), `unknown fault "no-change"`},
		{"fault of no duration", append(print, "--script", write(`{"faults":{"reviewer":["slow:soon"]}}`)), "slow:soon"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			err := run(test.args, strings.NewReader("prompt"), &out)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v; want %q in it", err, test.want)
			}
		})
	}
}

func TestVersionLooksLikeClaudes(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run([]string{"--script", "unread", "--version"}, strings.NewReader(""), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "2.1.329 (") {
		t.Errorf("version = %q", out.String())
	}
}

func TestADefectIsFoundByItsText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.go"), []byte("a\nb\nc\nd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, contains  string
		present         bool
		startLine, line int
	}{
		{"f.go", "a", true, 0, 1},
		{"f.go", "b\n", true, 0, 2},
		{"f.go", "b\nc", true, 2, 3},
		{"f.go", "b\nc\nd\n", true, 2, 4},
		{"f.go", "x", false, 0, 0},
		{"absent.go", "a", false, 0, 0},
	} {
		finding, present, err := Defect{Path: test.path, Contains: test.contains, Fix: "new"}.locate(dir)
		if err != nil {
			t.Fatal(err)
		}
		if present != test.present || finding.StartLine != test.startLine || finding.Line != test.line {
			t.Errorf("%q in %s: %v at %d-%d; want %v at %d-%d", test.contains, test.path,
				present, finding.StartLine, finding.Line, test.present, test.startLine, test.line)
		}
		if present && (finding.Quote != test.contains || finding.Suggestion != "new") {
			t.Errorf("finding = %+v", finding)
		}
	}
}
