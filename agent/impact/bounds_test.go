package impact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"touchstone/agent/bounded"
	"touchstone/worktree"
)

func TestTheSheetSaysWhatItCouldNotSee(t *testing.T) {
	change := map[string]string{"z/a.go": "package z\n\nfunc ChangedName(n int) {}\n"}
	used := "z/b.go:4 calls"
	for name, test := range map[string]struct {
		before map[string]string
		after  map[string]string
		want   string
	}{
		"a module that does not load": {map[string]string{"go.mod": "module ((\n\ngo 9.99\nrequire nowhere.invalid/x v0\n"}, nil,
			"No go.mod names a module: "},
		"a parser that fails": {nil, map[string]string{"z/c.go": "package z\n\nfunc broken( {\n"},
			"z/c.go does not parse: its definitions are read off its indentation."},
		"a generated file of 50 MB": {map[string]string{"gen/data.py": strings.Repeat("value = 1\n", 5_000_000)}, nil,
			"1 file of the repository with more than 1024 KiB: not searched."},
		"keys that mean anything": {map[string]string{"settings.yml": "name: shop\n"}, map[string]string{"settings.yml": "shop: shop\n"},
			"Too common to be followed: setting name."},
		"a graph that is none": {map[string]string{"docs/graph.json": "[1, 2"}, nil,
			"docs/graph.json is no graph that can be read: nodes with id and path, edges with source and target."},
	} {
		t.Run(name, func(t *testing.T) {
			before := map[string]string{"go.mod": module, "z/a.go": "package z\n\nfunc ChangedName() {}\n",
				"z/b.go": "package z\n\nfunc use() {\n\tChangedName()\n}\n"}
			after := maps.Clone(change)
			maps.Copy(before, test.before)
			maps.Copy(after, test.after)
			s := sheetOf(t, changing(t, before, after), "")
			if got := strings.Join(s.Unseen, "\n"); !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("it says %q", got)
			}
			if got := strings.Join(listed(s), "\n"); !strings.Contains(got, used) {
				t.Errorf("listed\n%s", got)
			}
		})
	}
}

// TestASheetIsMadeWithoutTypesIfTheyTakeTooLong changes a file whose types go/types needs hours to determine.
func TestASheetIsMadeWithoutTypesIfTheyTakeTooLong(t *testing.T) {
	var chain strings.Builder
	chain.WriteString("package z\n\n")
	for i := range 20_000 {
		fmt.Fprintf(&chain, "type T%d [1]T%d\n", i, i+1)
	}
	tree := changing(t, map[string]string{"go.mod": module, "z/a.go": "package z\n\ntype Store struct{}\n\nfunc (s Store) FetchAll() {}\n",
		"z/b.go": "package z\n\nfunc use(s Store) {\n\ts.FetchAll()\n}\n"},
		map[string]string{"z/a.go": "package z\n\ntype Store struct{}\n\nfunc (s Store) FetchAll(n int) {}\n", "z/c.go": chain.String()})
	diff, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Make(t.Context(), Source{Diff: diff, Files: tree, Bounds: bounded.Bounds{Time: 300 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	want := "Types in Go files are unknown, so what they use is told by names alone: determining them took longer than 300ms."
	if !slices.Contains(s.Unseen, want) {
		t.Errorf("it says %q", s.Unseen)
	}
	if got := strings.Join(listed(s), "\n"); !strings.Contains(got, "Store.FetchAll: z/b.go:4 calls") {
		t.Errorf("listed\n%s", got)
	}
}

// TestPairsOfShortDefinitionsAreBounded renames so many definitions of one line that comparing all would take a minute.
func TestPairsOfShortDefinitionsAreBounded(t *testing.T) {
	t.Parallel()
	const many = 8000
	var before, after strings.Builder
	names := make([]Name, 0, 2*many)
	for i := range many {
		fmt.Fprintf(&before, "def a%d(): pass%d\n", i, i)
		fmt.Fprintf(&after, "def b%d(): pass%d\n", i, i)
		names = append(names, Name{Kind: "func", Name: fmt.Sprintf("a%d", i), How: Removed, Line: i + 1, last: i + 1},
			Name{Kind: "func", Name: fmt.Sprintf("b%d", i), How: Added, Line: i + 1, last: i + 1})
	}
	pairRenamed(names, worktree.Sides{Before: []byte(before.String()), After: []byte(after.String())})
	renamed := 0
	for _, n := range names {
		if n.How == Renamed {
			renamed++
		}
	}
	if renamed == 0 || renamed*many > maxCompared/perPair {
		t.Errorf("%d of %d definitions were compared with all others", renamed, many)
	}
}

// TestLongNamesFillNoSheet checks that the sheet for a session stays short, however long names and paths are.
func TestLongNamesFillNoSheet(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(strings.Repeat("d", 200)+"/", 12)
	before := map[string]string{}
	var defined, used strings.Builder
	for i := range 12 {
		name := fmt.Sprintf("Name%02d%s", i, strings.Repeat("x", 300))
		fmt.Fprintf(&defined, "def %s():\n    pass\n", name)
		fmt.Fprintf(&used, "%s()\n", name)
	}
	for i := range 4 {
		before[fmt.Sprintf("%sdefined%d.py", deep, i)] = defined.String()
	}
	s := sheetOf(t, changing(t, before, map[string]string{"use.py": used.String()}), "")
	if len(s.Several) != 12 {
		t.Fatalf("%d names are defined in several places, so that this shows nothing", len(s.Several))
	}
	if text := s.Text(same, same); len(text) > maxSheet {
		t.Errorf("the sheet has %d bytes", len(text))
	}
}

// TestManyBrokenFilesFillNoSheet checks that the sheet lists some of the files that do not parse, and counts
// the others.
func TestManyBrokenFilesFillNoSheet(t *testing.T) {
	t.Parallel()
	after := map[string]string{}
	for i := range 600 {
		after[fmt.Sprintf("broken/%03d.go", i)] = "package broken\n\nfunc broken( {\n"
	}
	text := sheetOf(t, changing(t, map[string]string{"go.mod": module}, after), "").Text(same, same)
	if want := "596 more changed files do not parse"; len(text) > maxSheet || !strings.Contains(text, want) {
		t.Errorf("the sheet has %d bytes, and says %q: %t", len(text), want, strings.Contains(text, want))
	}
}

// TestTheSheetOfAVeryLargeRepository uses a commit with 300,000 files. The head of its branch removes them
// again, so that they need not be checked out.
func TestTheSheetOfAVeryLargeRepository(t *testing.T) {
	t.Parallel()
	r := repository{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	r.commit(map[string]string{"z/go.mod": module, "z/a.go": "package z\n\nfunc ChangedName(n int) {}\n",
		"z/b.go": "package z\n\nfunc use() {\n\tChangedName()\n}\n"})
	var entries, dirs strings.Builder
	blob := r.git("rev-parse", "HEAD:z/b.go")
	for i := range 1000 {
		fmt.Fprintf(&entries, "100644 blob %s\tf%d.py\n", blob, i)
	}
	leaf := r.make("mktree", entries.String())
	for i := range 300 {
		fmt.Fprintf(&dirs, "040000 tree %s\tmany%d\n", leaf, i)
	}
	large := r.git("commit-tree", "-m", "large", "-p", "HEAD", r.make("mktree", dirs.String()+"040000 tree "+r.git("rev-parse",
		"HEAD:z")+"\tz\n"))
	r.git("reset", "-q", "--soft", large)
	r.commit(map[string]string{"z/a.go": "package z\n\nfunc ChangedName() {}\n"})
	r.git("checkout", "-q", "-b", "topic")
	r.commit(map[string]string{"z/a.go": "package z\n\nfunc ChangedName(n int) {}\n"})
	tree := r.acquire(1)
	diff, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	diff.Head = large
	s, err := Make(t.Context(), Source{Diff: diff, Files: tree})
	if err != nil || !slices.Equal(s.Unseen, []string{"Only 100000 files of the repository were searched, and 200003 not."}) {
		t.Errorf("it says %q, %v", s.Unseen, err)
	}
	if got := listed(s); !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "z/b.go:4 calls") }) {
		t.Errorf("listed %q", got)
	}
}

func TestTheRepositorysOwnGraphIsShownAndChecked(t *testing.T) {
	s := sheetOf(t, changing(t, map[string]string{
		"store/sale.ts": "/**\n * @graph-business what was sold\n * @graph-connects orders.created [publishes] each sale\n * " +
			"@graph-connects store/gone.ts [calls] is no more\n * @graph-connects none\n */\nexport function recordSale() {\n  return 1\n}\n",
		"report/daily.ts": "// @graph-connects recordSale [reads] for the totals\n// @graph-connects otherThing [reads]\nexport const x = 1\n",
		"old.ts":          "export const old = 1\n",
		"graph.json": `{"nodes": [{"id": "sale", "path": "store/sale.ts", "role": "sales"}, {"id": "old", "path": "old.ts"}, {"id": ` +
			`"lost", "path": "lost.ts"}], "edges": [{"source": "old", "target": "sale", "type": "calls"}, {"source": "lost", "target": "old"}]}`,
	}, map[string]string{"store/sale.ts": "/**\n * @graph-business what was sold\n * @graph-connects orders.created [publishes] each " +
		"sale\n * @graph-connects store/gone.ts [calls] is no more\n * @graph-connects none\n */\nexport function recordSale(n) {\n  return " +
		"n\n}\n", "old.ts": ""}), "")
	var got []string
	for _, n := range s.Graph {
		got = append(got, strings.TrimSuffix(n.text(same, same), "\n"))
	}
	want := []string{
		"graph.json  lost.ts  edge  old.ts  STALE: the change removes old.ts",
		"graph.json  old.ts  calls  store/sale.ts  STALE: the change removes old.ts",
		"graph.json  old.ts  role  old  STALE: the change removes old.ts",
		"report/daily.ts:1  reads  recordSale  for the totals",
		"store/sale.ts:2  business  what was sold",
		"store/sale.ts:3  publishes  orders.created  each sale",
		"store/sale.ts:4  calls  store/gone.ts  is no more  STALE: there is no store/gone.ts",
		"graph.json  store/sale.ts  role  sales",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the graph says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if text := s.Text(same, same); !strings.Contains(text, "graph.json is stale: 2 of its 3 nodes name a file that is not there.") ||
		!strings.Contains(text, "## What the repository's own product graph says\n") {
		t.Error(text)
	}
	if graph := s.Mermaid(); !strings.Contains(graph, `["store/sale.ts: what was sold"]`) || !strings.Contains(graph, `|"publishes"|`) {
		t.Error(graph)
	}
}

func TestASheetIsBounded(t *testing.T) {
	t.Parallel()
	before, after := map[string]string{}, map[string]string{}
	var calls strings.Builder
	for i := range 260 {
		fmt.Fprintf(&calls, "    changed_name_%d(\"%s\")\n", i, strings.Repeat("x", 100))
		before[fmt.Sprintf("m%d.py", i)] = fmt.Sprintf("def changed_name_%d():\n    return 1\n", i)
		after[fmt.Sprintf("m%d.py", i)] = fmt.Sprintf("def changed_name_%d():\n    return 2\n", i)
	}
	before["all.py"] = "def everything():\n" + calls.String()
	before["data.py"] = strings.Repeat("x = 1\n", maxFile/6+1)
	s := sheetOf(t, changing(t, before, after), "")
	text := s.Text(same, same)
	if len(text) > maxSheet || len(s.Names) != maxNames || len(s.Unseen) != 2 || !strings.Contains(text, "left out for their number") {
		t.Errorf("%d bytes, %d names, %q\n%s", len(text), len(s.Names), s.Unseen, text[len(text)-300:])
	}
}

// TestANameThatIsLeftOutIsSaidOnce lets overloads take no room from other names.
func TestANameThatIsLeftOutIsSaidOnce(t *testing.T) {
	t.Parallel()
	g := group{left: "%s left out: "}
	for _, name := range []string{"func main", "func main", "type Ref", "func main"} {
		g.add("Changed", "its places", name)
	}
	g.take(0)
	if got, want := g.String(), "\n4 more are left out: func main, type Ref\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGraphsHaveEachNodeOnceAndAnEdgeForEachUse(t *testing.T) {
	s := Sheet{Names: []Name{{Kind: "func", Name: `a"b<`,
		Places: []Place{{Path: "x.go", Line: 1, What: "calls", Function: "f"}, {Path: "x.go", Line: 2, What: "calls", Function: "f"}}}}}
	want := "flowchart LR\n  n0[\"x.go: f\"]\n  n1[\"func a#quot;b#lt; (removed)\"]\n  n0 -->|\"calls\"| n1\n"
	if got := s.Mermaid(); got != want {
		t.Errorf("%s", got)
	}
	if got := s.DOT(); !strings.Contains(got, `n1 [label="func a\"b< (removed)"];`) || strings.Count(got, "->") != 1 {
		t.Errorf("%s", got)
	}
}

// TestALanguageThatIsNotReadIsNamed: silence about code that nobody read would pass for a proof that nobody uses it.
func TestALanguageThatIsNotReadIsNamed(t *testing.T) {
	s := sheetOf(t, changing(t,
		map[string]string{"src/Plan.hs": "plan x = x\n", "src/Query.hs": "import Plan\n\nquery = plan 1\n"},
		map[string]string{"src/Plan.hs": "plan x y = x\n", "Makefile": "all:\n\tghc src/Plan.hs\n", "notes.txt": "No code.\n"}), "")
	same := func(text string) string { return text }
	const want = "The language of 2 changed files (.hs, makefile) is not read: search for who uses what is defined there.\n" +
		"\nNothing was found in what was read.\n"
	if got := s.Text(same, same); got != intro+want {
		t.Errorf("the sheet is %q", got)
	}
}

// TestWhatIsUnseenLeavesRoomForTheSheet has long paths in what was not searched.
func TestWhatIsUnseenLeavesRoomForTheSheet(t *testing.T) {
	var s Sheet
	for range 100 {
		s.Unseen = append(s.Unseen, strings.Repeat("ü", 2000)+".go does not parse.")
	}
	s.Names = []Name{{Kind: "func", Name: "ChangedName", Path: "a.go", How: Body, Places: []Place{{Path: "b.go", Line: 3, What: "calls"}}}}
	text := s.Text(same, same)
	for _, want := range []string{"üü … üü", "ü.go does not parse.\n", "\nLeft out: 85 more sentences like these.\n", "b.go:3  calls"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if len(text) > maxSheet || !utf8.ValidString(text) {
		t.Errorf("%d bytes, valid: %v", len(text), utf8.ValidString(text))
	}
}
