package change

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/worktree/diff"
)

func named(names ...string) []File {
	files := make([]File, len(names))
	for i, name := range names {
		files[i] = File{File: diff.File{Path: name}}
	}
	return files
}

func TestWhatIsImportedComesFirst(t *testing.T) {
	for name, test := range map[string]struct {
		texts map[string]string
		want  []string // groups, each as its paths
	}{
		"Go": {map[string]string{
			"a/a.go":     "package a\n\nimport (\n\t\"fmt\"\n\n\tz \"example.com/app/z\"\n)\n",
			"a/other.go": "package a\n",
			"m/m.go":     "package m\n\nimport \"example.com/app/a\"\n",
			"z/z.go":     "package z\n", "z/z_test.go": "package z\n", "z/more_test.go": "package z\n",
		}, []string{"z/z.go z/z_test.go", "a/a.go", "a/other.go", "m/m.go", "z/more_test.go"}},
		"TypeScript": {map[string]string{
			"src/app.ts":           "import { load } from './store/load'\nimport type {\n  X,\n} from '../lib'\n",
			"src/store/load.ts":    "export * from \"./db.js\"\n",
			"src/store/db.js":      "const fs = require('fs')\n",
			"src/app.test.ts":      "import { app } from './app'\n",
			"lib/index.ts":         "export const x = 1\n",
			"src/store/db.spec.js": "",
		}, []string{"lib/index.ts", "src/store/db.js src/store/db.spec.js", "src/store/load.ts", "src/app.ts src/app.test.ts"}},
		"Python": {map[string]string{
			"src/acme/api.py":      "from acme.store.db import Row\nfrom . import util\n",
			"src/acme/store/db.py": "import os\n",
			"src/acme/util.py":     "",
			"tests/test_api.py":    "from acme.api import get\n",
		}, []string{"src/acme/store/db.py", "src/acme/util.py", "src/acme/api.py tests/test_api.py"}},
		"Java": {map[string]string{
			"src/main/java/com/acme/App.java":      "package com.acme;\n\nimport static com.acme.util.Zip.zip;\n",
			"src/main/java/com/acme/util/Zip.java": "package com.acme.util;\n",
			"src/test/java/com/acme/AppTest.java":  "import com.acme.App;\n",
		}, []string{"src/main/java/com/acme/util/Zip.java", "src/main/java/com/acme/App.java src/test/java/com/acme/AppTest.java"}},
		"Rust": {map[string]string{
			"src/a.rs": "use crate::store::Db;\nmod b;\n", "src/b.rs": "", "src/store.rs": "",
		}, []string{"src/b.rs", "src/store.rs", "src/a.rs"}},
		"C": {map[string]string{
			"a.c": "#include <stdio.h>\n#include \"z/z.h\"\n", "z/z.h": "",
		}, []string{"z/z.h", "a.c"}},
		"Ruby": {map[string]string{
			"lib/a.rb": "require_relative 'z'\n", "lib/z.rb": "", "spec/z_spec.rb": "",
		}, []string{"lib/z.rb spec/z_spec.rb", "lib/a.rb"}},
		"a circle": {map[string]string{
			"a.ts": "import './b'\n", "b.ts": "import './a'\n", "c.ts": "import './a'\n",
		}, []string{"b.ts", "a.ts", "c.ts"}},
		"a name that two files have": {map[string]string{
			"a/config.go": "", "b/config.go": "", "test/config_test.go": "",
		}, []string{"a/config.go", "b/config.go", "test/config_test.go"}},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			for path := range test.texts {
				names = append(names, path) // in any order
			}
			var got []string
			for _, group := range order(named(names...), func(path string) string { return test.texts[path] }) {
				got = append(got, strings.Join(paths(group), " "))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestALargeChangeIsCutIntoParts(t *testing.T) {
	t.Parallel()
	before, after := map[string]string{}, map[string]string{}
	for i := range 60 {
		text := fmt.Sprintf("package p%02d\n\nimport \"acme/p%02d\"\n", i, i+1)
		after[fmt.Sprintf("p%02d/code.go", i)] = text + strings.Repeat("var someLongName = anotherLongName\n", 200)
		after[fmt.Sprintf("p%02d/code_test.go", i)] = text
	}
	c := changed(t, before, after)
	if len(c.Parts) < 3 || len(c.Files) != len(after) {
		t.Fatalf("%d parts, %d of %d files", len(c.Parts), len(c.Files), len(after))
	}
	var all []string
	for _, part := range c.Parts {
		size := 0
		for _, f := range part {
			size += f.size
		}
		if size > maxPart || size == 0 {
			t.Errorf("a part of %d bytes", size)
		}
		all = append(all, paths(part)...)
	}
	for i := range 60 {
		// Each package imports the next one, so the last comes first.
		want := []string{fmt.Sprintf("p%02d/code.go", 59-i), fmt.Sprintf("p%02d/code_test.go", 59-i)}
		if got := all[2*i : 2*i+2]; !slices.Equal(got, want) {
			t.Fatalf("at %d: %q, want %q", 2*i, got, want)
		}
	}
	if again := changed(t, before, after); !slices.EqualFunc(c.Parts, again.Parts,
		func(a, b []File) bool { return slices.Equal(paths(a), paths(b)) }) {
		t.Error("the parts of the same change differ")
	}
}

func TestManySmallFilesAreSeveralParts(t *testing.T) {
	t.Parallel()
	after := map[string]string{}
	for i := range maxPartFiles + 5 {
		after[fmt.Sprintf("f%04d.txt", i)] = "x\n"
	}
	c := changed(t, nil, after)
	if len(c.Parts) != 2 || len(c.Parts[0]) != maxPartFiles || len(c.Parts[1]) != 5 {
		t.Errorf("%d parts", len(c.Parts))
	}
}

// TestRepeatedImportsTakeLittleMemory orders files that a stranger made to be slow: each has as many imports as are read, all
// of one directory that holds all files.
func TestRepeatedImportsTakeLittleMemory(t *testing.T) {
	var names []string
	for i := range 120 {
		names = append(names, fmt.Sprintf("d/f%04d.js", i))
	}
	const line = "import \"d\"\n"
	read, held := 0, runtime.MemStats{}
	order(named(names...), func(string) string {
		if read++; read == len(names) { // all others are being visited
			runtime.GC()
			runtime.ReadMemStats(&held)
		}
		return strings.Repeat(line, maxImports/len(line))
	})
	if taken := held.HeapAlloc >> 20; taken > 100 {
		t.Errorf("%d files take %d MiB", len(names), taken)
	}
}

// TestFilesOfOneNameCostLittle looks for imports among a few files, and among many, that all have one name.
func TestFilesOfOneNameCostLittle(t *testing.T) {
	quickest := func(files int) time.Duration {
		g := graph{named: map[string][]int{}, longest: map[string]string{}}
		for i := range files {
			g.add(fmt.Sprintf("d%05d/index", i), i)
		}
		best := time.Hour
		for range 5 {
			began := time.Now()
			for range 1000 {
				g.find("x/y/index")
			}
			best = min(best, time.Since(began))
		}
		return best
	}
	if few, many := quickest(100), quickest(10_000); many > 20*few {
		t.Errorf("among a hundred times as many files, it takes %s instead of %s", many, few)
	}
}

// TestAVeryLargeChangeIsOrderedByName checks that no file's imports are searched then.
func TestAVeryLargeChangeIsOrderedByName(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range maxOrdered + 1 {
		names = append(names, fmt.Sprintf("f%05d.ts", i))
	}
	units := order(named(names...), func(name string) string {
		t.Errorf("%s is read", name)
		return ""
	})
	if len(units) != len(names) || units[0][0].Path != names[0] || units[maxOrdered][0].Path != names[maxOrdered] {
		t.Errorf("%d groups", len(units))
	}
}

// FuzzOrder: files with any imports are all there once, in one order.
func FuzzOrder(f *testing.F) {
	f.Add("import './b'", "from . import a", "a.ts b.py c/index.js c/a_test.go")
	f.Add("import (\n\"a/b\"\n)", "use crate::a::b;", "a/b.go b/b.rs b/test_b.py a/a/a/a")
	f.Add("#include <../../..>", "import ....a.b", "/ . .. ... a.. .a")
	f.Fuzz(func(t *testing.T, one, two, list string) {
		var names []string
		for _, name := range strings.Fields(list) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		top := func(name string) string { return map[bool]string{true: one, false: two}[len(name)%2 == 0] }
		flat := func(names []string) (all []string) {
			for _, group := range order(named(names...), top) {
				all = append(all, paths(group)...)
			}
			return all
		}
		got := flat(names)
		shuffled := slices.Clone(names)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if again := flat(shuffled); !slices.Equal(got, again) {
			t.Errorf("%q and %q", got, again)
		}
		slices.Sort(got)
		slices.Sort(names)
		if !slices.Equal(got, names) {
			t.Errorf("%q became %q", names, got)
		}
	})
}
