package table

import (
	"fmt"
	"testing"
)

func TestATableHasSectionsAndMistakesInItPanic(t *testing.T) {
	t.Parallel()
	table := Read("a; -\n# a comment\n\n[words]\none [ two\nthree\n[pairs]\nk v: a b\nk v: c\n[lists]\nk: a b | c\nk: -d\n" +
		"[twice]\nk: a b\nl: b\n")
	for name, tt := range map[string]struct {
		got  any
		want string
	}{
		"rows": {table.Rows(""), "[[a ]]"}, "lines": {table.Lines("words"), "[one [ two three]"},
		"texts": {table.Text("words"), "one [ two three"},
		"words": {len(table.Words("words")), "4"}, "pairs": {table.Pairs("pairs"), "map[k v:a b c]"},
		"names": {table.Names("pairs"), "map[a:k v b:k v c:k v]"}, "lists": {len(table.Lists("lists")["k"]), "3"},
	} {
		if got := fmt.Sprint(tt.got); got != tt.want {
			t.Errorf("%s are %s", name, got)
		}
	}
	for name, mistake := range map[string]func(){
		"a missing section": func() { table.Words("other") }, "a line that is no pair": func() { table.Pairs("words") },
		"a name that is there twice": func() { table.Names("twice") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is passed over", name)
				}
			}()
			mistake()
		}()
	}
}
