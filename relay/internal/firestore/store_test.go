package firestore

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"touchstone/relay/hub"
	"touchstone/relay/storetest"
	"touchstone/relay/storetest/emulator"
)

// shared starts the one emulator of this test binary when the first test needs it.
var shared = sync.OnceValues(func() (*emulator.Emulator, error) {
	started.Store(true)
	return emulator.Start(context.Background())
})

var started atomic.Bool

func TestMain(m *testing.M) {
	code := m.Run()
	if started.Load() {
		if e, err := shared(); err == nil {
			if err := e.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	os.Exit(code)
}

// projects makes project names that differ, so that each test has databases of its own.
var projects atomic.Int64

func project(t *testing.T) string {
	t.Helper()
	e, err := shared()
	if err != nil {
		emulator.Skip(t, err)
	}
	t.Setenv("FIRESTORE_EMULATOR_HOST", e.Address)
	return fmt.Sprintf("project-%d", projects.Add(1))
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

// opener gives each test a project of its own, and each log in it a database.
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

func TestShared(t *testing.T) { storetest.RunShared(t, opener()) }
