package reviewer

import (
	"os"
	"path/filepath"
	"testing"

	"touchstone/agent/engine"
	"touchstone/agent/reviewer/change"
	"touchstone/verdict"
	"touchstone/worktree/diff"
)

func TestOpenedPatches(t *testing.T) {
	t.Parallel()
	one := change.File{Patches: []string{"/tmp/review-7/0001.patch"}}
	two := change.File{Patches: []string{"/tmp/review-7/0002.patch", "/tmp/review-7/0002-2.patch"}}
	for name, test := range map[string]struct {
		calls    []string
		one, two bool
	}{
		"no call":                    {nil, false, false},
		"one file read":              {[]string{`{"file_path":"/tmp/review-7/0001.patch"}`}, true, false},
		"a part of a file's patches": {[]string{"/tmp/review-7/0002.patch"}, false, false},
		"all of them":                {[]string{"/tmp/review-7/0002.patch", "/tmp/review-7/0002-2.patch"}, false, true},
		"on Windows":                 {[]string{`{"filePath":"C:\\Temp\\review-7\\0001.patch"}`}, true, false},
		"by a shell": {[]string{`bash -lc "cd /tmp/review-7; cat 0001.patch 0002.patch ` +
			`| head; sed -n '1,20p' 0002-2.patch"`}, true, true},
		"by a shell's pattern":             {[]string{`cat /tmp/review-7/*.patch`}, true, true},
		"by a narrower one":                {[]string{`cat /tmp/review-7/0002*`}, false, true},
		"a pattern in another directory":   {[]string{`cat *.patch`}, false, false},
		"another file of nearly that name": {[]string{`cat /tmp/review-7/10001.patch 0001.patch.orig`}, false, false},
		"the directory searched":           {[]string{`{"pattern":"func","path":"/tmp/review-7"}`}, false, false},
		"files of these names elsewhere": {[]string{`{"file_path":"/repo/0001.patch"}`, `cat 0001.patch`,
			`cd /tmp/review-7; cat /repo/0001.patch /repo/0002*`}, false, false},
		"by a shell's variable":           {[]string{`bash -lc 'D=/tmp/review-7; cat $D/0001.patch ${D}/0002*'`}, true, true},
		"another variable":                {[]string{`cat $D/0001.patch`}, false, false},
		"a directory of nearly that name": {[]string{`cat /tmp/review-70/0001.patch`}, false, false},
		"from a directory above":          {[]string{`cat ../review-7/0001.patch`}, true, false},
		"a broken pattern":                {[]string{`cat /tmp/review-7/[0001.patch`}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := within("/tmp/review-7")
			o.note(engine.Progress{Kind: engine.ProgressText, Text: "I read 0001.patch, 0002.patch and 0002-2.patch."})
			for _, call := range test.calls {
				o.note(engine.Progress{Kind: engine.ProgressTool, Text: "tool", Target: call})
			}
			if got, both := o.all(one), o.all(two); got != test.one || both != test.two {
				t.Errorf("opened %v and %v, want %v and %v", got, both, test.one, test.two)
			}
			if !o.all(change.File{}) {
				t.Error("a file without patches has to be opened")
			}
		})
	}
}

// Claude, opencode and agents that speak ACP list and search files by tools of these names.
func TestFilesThatAreListedAreNotOpened(t *testing.T) {
	t.Parallel()
	one := change.File{Patches: []string{"/tmp/review-7/0001.patch"}}
	const listed = `{"pattern":"*.patch","path":"/tmp/review-7"}`
	for _, test := range []struct {
		tool, arguments string
		opened          bool
	}{
		{"Glob *.patch", listed, false}, {"glob *.patch", listed, false}, {"list /tmp/review-7", listed, false},
		{"search *.patch", "FindFiles *.patch " + listed, false},
		{"Glob 0001.patch", `{"pattern":"0001.patch","path":"/tmp/review-7"}`, false},
		{"glob /tmp/review-7/0001.patch", `{"pattern":"/tmp/review-7/0001.patch"}`, false},
		{"Grep TODO", `{"pattern":"TODO","path":"/tmp/review-7","glob":"*.patch"}`, false},
		{"Grep .", `{"pattern":".","path":"/tmp/review-7/0001.patch"}`, true},
		{"read *.patch", `ReadManyFiles {"include":["/tmp/review-7/*.patch"]}`, true},
	} {
		o := within("/tmp/review-7")
		if o.note(engine.Progress{Kind: engine.ProgressTool, Text: test.tool, Target: test.arguments}); o.all(one) != test.opened {
			t.Errorf("%s %s: opened: %t", test.tool, test.arguments, !test.opened)
		}
	}
}

// A call that failed showed nothing; the same call can succeed before or after.
func TestACallThatFailedOpensNothing(t *testing.T) {
	t.Parallel()
	one := change.File{Patches: []string{"/tmp/review-7/0001.patch"}}
	read := engine.Progress{Kind: engine.ProgressTool, Text: "Read", Target: one.Patches[0]}
	failed, other := read, read
	failed.Kind, other.Kind, other.Target = engine.ProgressFailed, engine.ProgressFailed, "/tmp/review-7/0002.patch"
	o := within("/tmp/review-7")
	for i, step := range []struct {
		happens engine.Progress
		opened  bool
	}{{read, true}, {failed, false}, {read, true}, {read, true}, {failed, true}, {other, true}, {failed, false}} {
		if o.note(step.happens); o.all(one) != step.opened {
			t.Errorf("after step %d, opened: %t", i, o.all(one))
		}
	}
}

// A session that begins anew does not see what its earlier turns opened, but what they named was opened once.
func TestASessionThatBeginsAnewHasOpenedNothing(t *testing.T) {
	t.Parallel()
	one := change.File{Patches: []string{"/tmp/review-7/0001.patch"}}
	o := within("/tmp/review-7")
	o.note(engine.Progress{Kind: engine.ProgressTool, Text: "Read", Target: one.Patches[0]})
	if o.note(engine.Progress{Kind: engine.ProgressAnew}); o.all(one) || !o.called("0001.patch") {
		t.Errorf("opened: %t, called: %t", o.all(one), o.called("0001.patch"))
	}
}

// What a model read that another one replaces is not read by that one.
func TestAnotherModelHasOpenedNothing(t *testing.T) {
	t.Parallel()
	one := change.File{Patches: []string{"/tmp/review-7/0001.patch"}}
	read := engine.Progress{Kind: engine.ProgressTool, Text: "Read", Target: one.Patches[0]}
	o := within("/tmp/review-7")
	for _, step := range []struct {
		happens engine.Progress
		opened  bool
	}{{read, true}, {engine.Progress{Kind: engine.ProgressSwitch, Text: "claude sonnet"}, false}, {read, true}} {
		if o.note(step.happens); o.all(one) != step.opened {
			t.Errorf("after %s, opened: %t", step.happens.Kind, o.all(one))
		}
	}
}

func TestFilesThatAreNamedAndNotOpenedAreSaidSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"changed.go", "read.go", "claimed.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := within("/tmp/review-7")
	o.note(engine.Progress{Kind: engine.ProgressTool, Text: "Read", Target: "read.go"})
	all := []verdict.Examined{{Examined: "changed.go:3, read.go, claimed.go:12 and its callers; v1.2 of missing.go"}, {Examined: "the lock"}}
	o.own(all, dir, []diff.File{{Path: "changed.go"}})
	if got, want := all[0].Examined, "changed.go:3, read.go, claimed.go:12 and its callers; v1.2 of missing.go [named, but not opened: "+
		"claimed.go]"; got != want || all[1].Examined != "the lock" {
		t.Errorf("%q", all)
	}
}
