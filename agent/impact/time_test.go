package impact

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"touchstone/agent/impact/golang"
	"touchstone/agent/outline"
	"touchstone/worktree"
)

// within fails a test whose work takes too long.
func within(t *testing.T, limit time.Duration, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); work() }()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatal("it takes too long")
	}
}

// TestALongDocumentThatRepeatsANameTakesNoMinute checks that the heading above a line is not searched for all the lines
// that are not shown. That took a minute.
func TestALongDocumentThatRepeatsANameTakesNoMinute(t *testing.T) {
	t.Parallel()
	tree := changing(t, map[string]string{"a.py": "def changed_name(n):\n    return 1\n",
		"b.md": "# Names\n" + strings.Repeat("- `changed_name`\n", 55_000)}, map[string]string{"a.py": "def changed_name(n):\n    return 2\n"})
	within(t, 30*time.Second, func() {
		got := sheetOf(t, tree, "").Names
		if len(got) != 1 || len(got[0].Places) != perFile || got[0].Places[0].Function != "Names" {
			t.Errorf("%+v", got)
		}
	})
}

// TestComparingRenamedFunctionsGrowsWithTheirNumber compares thousands of removed functions, as generated code has them, with
// as many new ones: twice as many cost about twice as much. What is allocated stands for the work, since it does not depend on
// the machine.
func TestComparingRenamedFunctionsGrowsWithTheirNumber(t *testing.T) {
	generated := func(prefix string, functions int) []byte {
		var b strings.Builder
		for i := range functions {
			fmt.Fprintf(&b, "export function %s%d() {\n", prefix, i)
			for k := range 10 {
				fmt.Fprintf(&b, "  call%d(item%d, %d)\n", k, i, k)
			}
			b.WriteString("}\n\n")
		}
		return []byte(b.String())
	}
	cost := func(functions int) uint64 {
		s := worktree.Sides{Path: "a.ts", OldPath: "a.ts", Before: generated("getItem", functions), After: generated("fetchItem", functions)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		names := touched(s, outline.Of("a.ts", s.Before), outline.Of("a.ts", s.After), emptyChanges(), false)
		runtime.ReadMemStats(&after)
		i := slices.IndexFunc(names, func(n Name) bool { return n.Name == "getItem0" })
		if len(names) < functions || names[i].How != Renamed || names[i].To != "func fetchItem0" {
			t.Errorf("%d names, %+v", len(names), names[i])
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if once, twice := cost(700), cost(1400); twice > 3*once {
		t.Errorf("%d KiB, and %d KiB for twice as many", once>>10, twice>>10)
	}
}

// TestThousandsOfFieldsOfOneFileTakeNoMinutes writes each field of a long struct otherwise than before.
func TestThousandsOfFieldsOfOneFileTakeNoMinutes(t *testing.T) {
	t.Parallel()
	const fields = 6000
	var store, was, is strings.Builder
	store.WriteString("package z\n\ntype Store struct {\n")
	for i := range fields {
		fmt.Fprintf(&store, "\tField%d int\n", i)
		fmt.Fprintf(&was, "\ts.Field%d = 1\n", i)
		fmt.Fprintf(&is, "\ts.Field%d = 2\n", i)
	}
	use := func(body string) string { return "package z\n\nfunc use(s Store) {\n" + body + "}\n" }
	tree := changing(t, map[string]string{"go.mod": module, "z/a.go": store.String() + "}\n", "z/b.go": use(was.String())},
		map[string]string{"z/a.go": store.String() + "\tLast int\n}\n", "z/b.go": use(is.String())})
	within(t, 40*time.Second, func() {
		names := sheetOf(t, tree, "").Names
		if !slices.ContainsFunc(names, func(n Name) bool { return n.Kind == "field" && n.In == "Store" && n.How == Touched && n.weight > 4 }) {
			t.Errorf("%+v", names)
		}
	})
}

// proportional fails a test whose work for 16 times as much takes more than 64 times as long: it is 256 times for what is
// compared with all others, in each of five tries. Both are measured in the same run, each at its best of three, so that no
// machine is too slow, or too busy.
func proportional(t *testing.T, n int, work func(n int)) {
	t.Helper()
	best := func(n int) time.Duration {
		fastest := time.Duration(math.MaxInt64)
		for range 3 {
			started := time.Now()
			work(n)
			fastest = min(fastest, time.Since(started))
		}
		return fastest
	}
	var tries []string
	for range 5 {
		once, more := best(n), best(16*n)
		if more <= 64*once {
			return
		}
		tries = append(tries, fmt.Sprintf("%s and %s", once, more))
	}
	t.Errorf("for %d, and for 16 times as many: %s", n, strings.Join(tries, "; "))
}

// TestALongFileOfDefinitionsIsReadOnce changes each of thousands of definitions, which use each other: none is searched for
// among all others.
func TestALongFileOfDefinitionsIsReadOnce(t *testing.T) {
	for name, line := range map[string]string{"a.py": "  self.value_%d = self.value_%d\n", "A.java": "  private int value%d = value%d;\n"} {
		proportional(t, 750, func(definitions int) {
			lines := emptyChanges()
			blocks := []outline.Block{{Kind: "type", Name: "Store", Start: 1, Body: 1, End: definitions + 1}}
			var before, after strings.Builder
			before.WriteString("class Store {\n")
			after.WriteString("class Store {\n")
			for i := range definitions {
				at := i + 2
				lines.removed[at], lines.added[at] = fmt.Sprintf(line, i, i+1), fmt.Sprintf(line, i, i+2)
				before.WriteString(lines.removed[at])
				after.WriteString(lines.added[at])
				lines.at = append(lines.at, at)
				blocks = append(blocks, outline.Block{Kind: "field", Name: fmt.Sprintf("value%d", i), In: "Store", Start: at, Body: at, End: at})
			}
			s := worktree.Sides{Path: name, OldPath: name, Before: []byte(before.String()), After: []byte(after.String())}
			var c changed
			names := touched(s, blocks, blocks, lines, false)
			lines.widen(blocks, after.String())
			c.touch(s, false, blocks, blocks, lines)
			if len(names) < definitions || len(c.fields) < definitions/2 {
				t.Errorf("%s: %d names, %d fields", name, len(names), len(c.fields))
			}
		})
	}
}

// TestFieldsOfOneNameAreNoProductOfEachOther has them in the types of one name that generated code has.
func TestFieldsOfOneNameAreNoProductOfEachOther(t *testing.T) {
	proportional(t, 1500, func(types int) {
		lines := emptyChanges()
		var blocks []outline.Block
		for i := range types {
			at := 2*i + 1
			lines.added[at+1] = "  private int bits = bits | 1;\n"
			blocks = append(blocks, outline.Block{Kind: "type", Name: "Builder", Start: at, Body: at, End: at + 1},
				outline.Block{Kind: "field", Name: "bits", In: "Builder", Start: at + 1, Body: at + 1, End: at + 1})
		}
		var c changed
		c.touch(worktree.Sides{Path: "A.java", OldPath: "A.java"}, false, blocks, blocks, lines)
		if len(c.fields) != 1 {
			t.Errorf("%+v", c.fields)
		}
	})
}

// shared is a Go file with a list of definitions in one line, or in the lines of one definition.
func shared(form [3]string, prefix string, definitions int) []byte {
	text := []byte("package z\n\n" + form[0])
	for i := range definitions {
		text = fmt.Appendf(text, form[1], prefix, i)
	}
	return append(text, form[2]...)
}

// TestDefinitionsThatShareTheirLinesAreNoProductOfThem renames the names of lists, each of which has all lines of its list.
// Reading those for each name allocates 700 MiB.
func TestDefinitionsThatShareTheirLinesAreNoProductOfThem(t *testing.T) {
	for name, form := range map[string][3]string{
		"variables in one line":   {"var x", ", %s%d", " int\n"},
		"variables in many lines": {"var x", ",\n\t%s%d", " int\n"},
		"types in one line":       {"type (", "%s%d int;", ")\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := worktree.Sides{OldPath: "z.go", Path: "z.go", Before: shared(form, "a", 2000), After: shared(form, "b", 2000)}
			was, is := outline.Of("z.go", s.Before), outline.Of("z.go", s.After)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			names := touched(s, was, is, emptyChanges(), false)
			basesIn(is, s.After)
			runtime.ReadMemStats(&after)
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; len(names) < 4000 || took > 400 {
				t.Errorf("%d names, %d MiB", len(names), took)
			}
		})
	}
}

// TestTheCommentAboveAListIsReadOnce adds lists of names below a long comment.
func TestTheCommentAboveAListIsReadOnce(t *testing.T) {
	proportional(t, 250, func(names int) {
		s := worktree.Sides{Path: "z.go", After: shared([3]string{strings.Repeat("//\n", names) + "var x", ", %s%d", " int\n"}, "a", names)}
		if all := touched(s, nil, outline.Of("z.go", s.After), emptyChanges(), false); all[names].first != 3 {
			t.Errorf("%+v", all[names])
		}
	})
}

// TestALineIsNotComparedWithAllOthersOfItsFile searches a long file each line of which can mean the name.
func TestALineIsNotComparedWithAllOthersOfItsFile(t *testing.T) {
	for what, test := range map[string]struct {
		name Name
		line string
	}{
		"methods of another type": {Name{Kind: "method", Name: "close_all", In: "Store", Path: "a.py", Line: 2, How: Signature},
			"  def close_all(self): pass\n"},
		"functions read the field": {Name{Kind: "field", Name: "size_of", In: "Store", Path: "a.py", Line: 2, How: Touched},
			"def f%d(x):\n  Store(x.size_of)\n"},
	} {
		t.Run(what, func(t *testing.T) {
			proportional(t, 2000, func(lines int) {
				var text strings.Builder
				for i := range lines {
					text.WriteString(strings.Replace(test.line, "%d", fmt.Sprint(i), 1))
				}
				n, f := test.name, &finder{program: golang.New(), kinds: map[string]string{}}
				f.search(&n, "b.py", text.String(), strings.Split(text.String(), "\n"))
				if touched := n.How == Touched; touched && len(n.Places) != lines || !touched && len(n.Places) > 0 {
					t.Errorf("%d places", len(n.Places))
				}
			})
		})
	}
	proportional(t, 1000, func(lines int) {
		r := reading{name: &Name{Name: "Size", Path: "a.go", Line: 1}}
		for i := range lines {
			r.refs = append(r.refs, golang.Ref{Name: "Size", Line: i + 1, Of: golang.Definition{Path: "a.go", Line: 1}, Field: true})
		}
		for i := range lines {
			if r.means(i).what != "reads" {
				t.Fatalf("line %d means %+v", i+1, r.means(i))
			}
		}
	})
}

// TestALongTypeIsNotComparedWithAllDefinitionsOfItsFile shows a type without members in a file of many definitions.
func TestALongTypeIsNotComparedWithAllDefinitionsOfItsFile(t *testing.T) {
	const definitions = 250
	files := map[int][]outline.Block{} // made before the clock runs, since making them takes longer than what is measured
	for _, n := range []int{definitions, 16 * definitions} {
		files[n] = []outline.Block{{Kind: "type", Name: "Store", Start: 1, Body: 1, End: n}}
		for i := range n {
			files[n] = append(files[n], outline.Block{Kind: "var", Name: "x", Start: n + i, Body: n + i, End: n + i})
		}
	}
	lines := slices.Repeat([]string{"1"}, 32*definitions)
	proportional(t, definitions, func(n int) {
		for range 20 {
			if c := (&finder{}).shown("a.py", lines[:2*n], files[n], files[n][0], 0); len(c.Lines) != 1 || !c.Cut {
				t.Fatalf("%+v", c)
			}
		}
	})
}

// TestOnlySoManyValuesAreSearchedInAFile asks for the types of more.
func TestOnlySoManyValuesAreSearchedInAFile(t *testing.T) {
	v := valuesOf("a.py", "first = Store()\nlast = Store()\n")
	is := v.typeOf("first")
	for i := range maxValues - 1 {
		v.typeOf(fmt.Sprintf("v%d", i))
	}
	if again, last := v.typeOf("first"), v.typeOf("last"); is != "Store" || again != is || last != "" {
		t.Errorf("the types are %q, %q and %q", is, again, last)
	}
}

// TestMethodsOfOneLineAreNoProductOfThem changes the methods of an interface in one line. Reading that for each of them
// allocates a gigabyte.
func TestMethodsOfOneLineAreNoProductOfThem(t *testing.T) {
	form := [3]string{"type Z interface { x()", "; %s%d()", " }\n"}
	tree := changing(t, map[string]string{"go.mod": "module z\n", "z.go": string(shared(form, "a", 4000))},
		map[string]string{"z.go": string(shared(form, "b", 4000))})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s := sheetOf(t, tree, "")
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; len(s.Names) == 0 || took > 500 {
		t.Errorf("%d names, %d MiB", len(s.Names), took)
	}
}
