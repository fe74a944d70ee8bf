// Package emulator runs Google's Firestore emulator for tests, and a proxy before it
// that does what networks do: it delays, loses requests, loses answers, and hangs up.
// It knows nothing of the relay and stores nothing.
package emulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// jar is where the Cloud SDK keeps the emulator, below its root.
const jar = "platform/cloud-firestore-emulator/cloud-firestore-emulator.jar"

// startTimeout is how long the emulator may take until it answers.
const startTimeout = time.Minute

// ErrMissing is wrapped by errors that say that this machine has no emulator.
var ErrMissing = errors.New("the Firestore emulator is missing")

// Emulator is a running emulator. Its data is gone when it stops.
type Emulator struct {
	// Address is HOST:PORT, the value for FIRESTORE_EMULATOR_HOST.
	Address string

	command *exec.Cmd
	alive   io.Closer
}

// Start starts an emulator on a free port of loopback. It is found through
// FIRESTORE_EMULATOR_JAR, or where the Cloud SDK installs it.
func Start(ctx context.Context) (*Emulator, error) {
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
	// The shell ends the emulator when its standard input ends, which happens
	// however this process dies.
	command := exec.Command("sh", "-c", `"$@" & read -r _; kill -9 $!`, "sh",
		"java", "-Duser.language=en", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path,
		"com.google.cloud.datastore.emulator.firestore.CloudFirestore", "start", "--host="+host, "--port="+port)
	alive, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the Firestore emulator: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the Firestore emulator: %w", err)
	}
	e := &Emulator{Address: address, command: command, alive: alive}
	if err := e.wait(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the Firestore emulator: %w", err), e.Stop())
	}
	return e, nil
}

// wait waits until the emulator takes connections.
func (e *Emulator) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", e.Address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop ends the emulator and waits until it is gone.
func (e *Emulator) Stop() error {
	if err := e.alive.Close(); err != nil {
		return fmt.Errorf("stop the Firestore emulator: %w", err)
	}
	// The shell ends with the status of its last command, which is no news.
	if err := e.command.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return fmt.Errorf("stop the Firestore emulator: %w", err)
	}
	return nil
}

// find looks for the emulator and what runs it.
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
	roots := []string{"/usr/lib/google-cloud-sdk", "/usr/share/google-cloud-sdk", "/opt/google-cloud-sdk", "/opt/homebrew/share/google-cloud-sdk"}
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
	return "", fmt.Errorf("%w: install it (`gcloud components install cloud-firestore-emulator`, or Debian's google-cloud-cli-firestore-emulator), or set FIRESTORE_EMULATOR_JAR", ErrMissing)
}

// freeAddress finds a port that was free a moment ago.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

// Skip ends a test that cannot have an emulator: loudly, and as a failure where CI=true
// promises that everything is there.
func Skip(tb testing.TB, err error) {
	tb.Helper()
	if !errors.Is(err, ErrMissing) || os.Getenv("CI") == "true" {
		tb.Fatal(err)
	}
	tb.Skipf("SKIPPED: %v", err)
}
