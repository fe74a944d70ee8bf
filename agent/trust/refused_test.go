package trust_test

import (
	"testing"

	"touchstone/agent/trust"
)

// TestARefusedWordStaysRefused checks that the next process sees the refused word too, and that it is refused
// only for its own pull request.
func TestARefusedWordStaysRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	words := func(pull int64, add ...string) map[string]bool {
		t.Helper()
		book, err := trust.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		more := map[string]bool{}
		for _, word := range add {
			more[word] = true
		}
		if err := book.Refuse(pull, more); err != nil {
			t.Fatal(err)
		}
		all, err := book.Refused(pull)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	words(7, trust.CommentWord(1))
	words(7, trust.CommentWord(1), trust.ReviewWord(1))
	if all := words(7); len(all) != 2 || !all[trust.CommentWord(1)] || !all[trust.ReviewWord(1)] {
		t.Errorf("refused are %v", all)
	}
	if all := words(8); len(all) != 0 {
		t.Errorf("of another pull request %v", all)
	}
	book, err := trust.Open(dir)
	if err == nil {
		err = book.Forget(7)
	}
	if err != nil || len(words(7)) != 0 {
		t.Errorf("%v, and refused are %v after they were forgotten", err, words(7))
	}
}
