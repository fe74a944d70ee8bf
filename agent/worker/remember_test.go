package worker

import (
	"os"
	"path/filepath"
	"testing"

	"touchstone/agent/e2e/loopback"
	"touchstone/agent/trust"
	"touchstone/verdict/decide"
)

// TestOnlyALookStoresWhatItLearnt checks that whoever only asks leaves the state directory as it was, and that a look
// stores the order that its author may not give.
func TestOnlyALookStoresWhatItLearnt(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	comment(g, loopback.Judge, "/touchstone break-glass it is urgent")
	pr = g.Read(loopback.Author, pr.Ref)
	dir := t.TempDir()
	book, err := trust.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := agentOf(g, decide.Author, loopback.Author)
	a.Trust = book
	if _, err := a.Decide(t.Context(), pr); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Orders(t.Context(), pr); err != nil {
		t.Fatal(err)
	}
	if _, err := (Onlooker{Read: a.Read, Config: a.Config(), Trust: book}).State(t.Context(), pr); err != nil {
		t.Fatal(err)
	}
	if stored, err := os.ReadDir(dir); err != nil || len(stored) > 0 {
		t.Errorf("asking stored %v, %v", stored, err)
	}
	decided(t, g, a, pr)
	if refused, err := book.Refused(pr.DatabaseID); err != nil || len(refused) != 1 {
		t.Errorf("a look recorded as refused %v, %v, in %s", refused, err, filepath.Base(dir))
	}
}

// TestTheLastLooksStoreWhatTheyLearn checks that the looks before a merge and before a push record an order that its
// author may not give: nothing else shows later that the author had no permission then.
func TestTheLastLooksStoreWhatTheyLearn(t *testing.T) {
	t.Parallel()
	g, pr := approved(t, map[string]string{"README.md": "one\n"}, fine)
	begun := pr
	comment(g, loopback.Judge, "/touchstone break-glass it is urgent")
	pr = g.Read(loopback.Author, pr.Ref)
	for name, look := range map[string]func(*Agent) error{
		"merge": func(a *Agent) error { _, _, err := a.Decider()(t.Context(), pr); return err },
		"push":  func(a *Agent) error { _, err := a.Unwanted(t.Context(), decide.Fix, begun, pr); return err },
	} {
		book, err := trust.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		a := agentOf(g, decide.Author, loopback.Author)
		a.Trust = book
		if err := look(a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if refused, err := book.Refused(pr.DatabaseID); err != nil || len(refused) != 1 {
			t.Errorf("the look before a %s recorded as refused %v, %v", name, refused, err)
		}
	}
}
