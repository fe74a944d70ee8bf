// Package emulator runs Google's Firestore emulator for tests, and a proxy in front of it that behaves like a
// network: it delays requests, loses requests and answers, and disconnects. It knows nothing of the relay and
// stores nothing.
package emulator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"touchstone/relay/storetest/host"
	"touchstone/worktree/pause"
)

// jar is where the Cloud SDK keeps the emulator, below its root.
const jar = "platform/cloud-firestore-emulator/cloud-firestore-emulator.jar"

// startTimeout is how long the emulator may take until it answers. On an idle machine it takes a second or
// two.
const startTimeout = 5 * time.Minute

// ErrMissing is wrapped by errors that say that this machine has no emulator.
var ErrMissing = errors.New("the Firestore emulator is missing")

// Running names the environment variable with the address of an emulator that several test binaries share:
// starting one takes six seconds of CPU time.
const Running = "TOUCHSTONE_FIRESTORE_EMULATOR"

// Shared returns the emulator that Running names, or one that this process starts when it first needs it and
// that ends with the process.
func Shared() (*Emulator, error) { return shared() }

var shared = sync.OnceValues(func() (*Emulator, error) {
	if address := os.Getenv(Running); address != "" {
		e := &Emulator{Address: address}
		return e, e.warm(context.Background())
	}
	return Start(context.Background())
})

// Project returns a project name that no other test uses, however often the tests run.
func Project() string { return "project-" + strings.ToLower(rand.Text())[:12] }

// ForTest returns the shared emulator and the name of a project in it that only this test uses.
func ForTest(tb testing.TB) (e *Emulator, project string) {
	tb.Helper()
	e, err := Shared()
	if err != nil {
		Skip(tb, err)
	}
	return e, Project()
}

// Emulator is a running emulator. Its data is lost when it stops.
type Emulator struct {
	// Address is HOST:PORT, the value for FIRESTORE_EMULATOR_HOST.
	Address string

	command *exec.Cmd
	alive   io.Closer
}

// Start starts an emulator and waits until it answers.
func Start(ctx context.Context) (*Emulator, error) {
	e, err := Launch()
	if err != nil {
		return nil, err
	}
	if err := e.warm(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the Firestore emulator: %w", err), e.Stop())
	}
	return e, nil
}

// Launch starts an emulator on a free loopback port; it answers some seconds later. Launch finds it through
// FIRESTORE_EMULATOR_JAR, or where the Cloud SDK installs it.
func Launch() (*Emulator, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	// The shell kills the emulator when its standard input ends, which happens however this process ends.
	command := exec.Command("sh", "-c", `"$@" & read -r _; kill -9 $!`, "sh",
		"java", "-Duser.language=en", "-Xmx2g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path,
		"com.google.cloud.datastore.emulator.firestore.CloudFirestore", "start", "--host="+host, "--port="+port)
	alive, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the Firestore emulator: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the Firestore emulator: %w", err)
	}
	return &Emulator{Address: address, command: command, alive: alive}, nil
}

// warm makes the emulator do once what stores ask of it. Its first calls take many times as long as later
// ones, on a busy machine longer than a relay waits for Firestore.
func (e *Emulator) warm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	const database = "projects/warm/databases/(default)"
	for _, call := range []struct{ method, body string }{
		{"commit", `{"writes": [{"update": {"name": "` + database + `/documents/a/b", "fields": {"n": {"integerValue": "1"}}}}]}`},
		{"batchGet", `{"documents": ["` + database + `/documents/a/b"]}`},
		{"runQuery", `{"structuredQuery": {"from": [{"collectionId": "a"}], "orderBy": [{"field": {"fieldPath": "n"}, "direction": ` +
			`"DESCENDING"}], "limit": 1}}`},
	} {
		url := "http://" + e.Address + "/v1/" + database + "/documents:" + call.method
		for err := ask(ctx, url, call.body); err != nil; err = ask(ctx, url, call.body) {
			if !pause.For(ctx, 20*time.Millisecond) {
				return err
			}
		}
	}
	return nil
}

// ask makes one request of Firestore's REST API (https://cloud.google.com/firestore/docs/reference/rest).
func ask(ctx context.Context, url, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode == http.StatusOK {
		return err
	}
	return fmt.Errorf("it answers %s: %s", response.Status, answer)
}

// Stop ends the emulator and waits until it is gone.
func (e *Emulator) Stop() error {
	if err := e.alive.Close(); err != nil {
		return fmt.Errorf("stop the Firestore emulator: %w", err)
	}
	// The shell exits with the status of its last command, which says nothing here.
	if err := e.command.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return fmt.Errorf("stop the Firestore emulator: %w", err)
	}
	return nil
}

// find looks for the emulator and the programs that run it.
func find() (string, error) {
	for _, program := range []string{"sh", "java"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("%w: there is no %s on the PATH", ErrMissing, program)
		}
	}
	if path := os.Getenv("FIRESTORE_EMULATOR_JAR"); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("%w: FIRESTORE_EMULATOR_JAR: %w", ErrMissing, err)
		}
		return path, nil
	}
	roots := []string{"/usr/lib/google-cloud-sdk", "/usr/share/google-cloud-sdk", "/opt/google-cloud-sdk",
		"/opt/homebrew/share/google-cloud-sdk"}
	if home, err := os.UserHomeDir(); err == nil {
		roots = append(roots, filepath.Join(home, "google-cloud-sdk"))
	}
	if gcloud, err := exec.LookPath("gcloud"); err == nil {
		if gcloud, err = filepath.EvalSymlinks(gcloud); err == nil {
			roots = append(roots, filepath.Dir(filepath.Dir(gcloud)))
		}
	}
	for _, root := range roots {
		path := filepath.Join(root, filepath.FromSlash(jar))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: install it (`gcloud components install cloud-firestore-emulator`, or Debian's "+
		"google-cloud-cli-firestore-emulator), or set FIRESTORE_EMULATOR_JAR", ErrMissing)
}

// freeAddress finds a port that was free a moment ago, on an address where no other process looks for one.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host.Own(), "0"))
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

// Skip ends a test that cannot have an emulator: it says so loudly, and fails the test where CI=true promises
// that everything is there.
func Skip(tb testing.TB, err error) {
	tb.Helper()
	if !errors.Is(err, ErrMissing) || os.Getenv("CI") == "true" {
		tb.Fatal(err)
	}
	tb.Skipf("SKIPPED: %v", err)
}
