package firestore

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/storetest"
	"touchstone/relay/storetest/emulator"
	"touchstone/relay/token"
)

// project returns the name of a project that only this test uses.
func project(t *testing.T) string {
	t.Helper()
	e, project := emulator.ForTest(t)
	t.Setenv("FIRESTORE_EMULATOR_HOST", e.Address)
	return project
}

// patient are limits for an emulator that shares a busy machine with the tests.
var patient = limits{open: 5 * time.Minute, call: 2 * time.Minute, append: 5 * time.Minute, attempt: 2 * time.Minute}

func open(t *testing.T, project, database string) *Store {
	t.Helper()
	s, err := openWithin(t.Context(), patient, project, database)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Relays that change the tokens at the same moment lose no change: a token that one relay revokes does not
// come back through a token that another one makes.
func TestRelaysChangeTokensAtOnce(t *testing.T) {
	name := project(t)
	var relays []token.Notes
	for range 3 {
		s := open(t, name, "shared")
		defer s.Close()
		relays = append(relays, token.Notes{Notebook: s})
	}
	mint := func(name string) token.Token {
		made, _, err := token.New(name, token.Subscriber, event.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	lost := mint("lost")
	if err := token.Add(t.Context(), relays[0], lost); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		if _, err := token.Revoke(t.Context(), relays[0], lost.ID); err != nil {
			t.Error(err)
		}
	})
	for i, store := range relays[1:] {
		other := mint(fmt.Sprint("laptop-", i))
		group.Go(func() {
			if err := token.Add(t.Context(), store, other); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	tokens, err := relays[0].Load(t.Context())
	if err != nil || len(tokens) != 3 || tokens[0].ID != lost.ID || tokens[0].Revoked == nil {
		t.Errorf("there are %+v (%v)", tokens, err)
	}
}

// opener gives each test its own project, and each log in it a database.
func opener() storetest.Open {
	names := map[*testing.T]string{}
	return func(t *testing.T, name string) hub.Store {
		if names[t] == "" {
			names[t] = project(t)
		}
		return open(t, names[t], name)
	}
}

func TestConformance(t *testing.T) { storetest.Run(t, opener()) }

func TestSharedStoreConformance(t *testing.T) { storetest.RunShared(t, opener()) }
