package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// redacted stands where a secret would.
const redacted = "[redacted]"

// Secret is a token that does not show itself: code that prints, logs or encodes it gets a
// placeholder. Converting it to a string is the one way to use it. Like every type's, its
// methods are not called when fmt prints a struct that has it in an unexported field.
type Secret string

// String is the placeholder.
func (Secret) String() string { return redacted }

// Format prints the placeholder for every verb. Without it, %#v and a verb that does not
// fit would show the secret.
func (Secret) Format(state fmt.State, _ rune) { io.WriteString(state, redacted) }

// MarshalText encodes the placeholder, in JSON, YAML and structured logs alike.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// AdminTokenFile is what joining as an administrator calls the file of the relay's token. It lies beside the configuration,
// which need not name it.
const AdminTokenFile = "relay-admin-token"

// ModelKeysFile is what installing a service calls the file of the keys of models' providers that its shell alone had, in
// lines of NAME=key. It lies beside the configuration, which need not name it.
const ModelKeysFile = "model-keys"

// Environment is this program's and, as far as that lacks them, the variables of ModelKeysFile.
func (c Config) Environment() ([]string, error) {
	environment := os.Environ()
	if c.path == "" {
		return environment, nil
	}
	content, err := readFile(filepath.Join(filepath.Dir(c.path), ModelKeysFile), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return environment, nil
	}
	for line := range strings.Lines(string(content)) {
		name, _, _ := strings.Cut(line, "=")
		if _, set := os.LookupEnv(name); !set {
			environment = append(environment, strings.TrimSpace(line))
		}
	}
	return environment, err
}

// secretFiles are the files that hold secrets; empty for what there is none of.
func (c Config) secretFiles() []string {
	files := []string{c.GitHub.TokenFile, c.GitHub.AppKeyFile, c.Relay.TokenFile, c.Notify.SlackWebhookFile}
	for _, name := range []string{AdminTokenFile, ModelKeysFile} {
		file := filepath.Join(filepath.Dir(c.path), name)
		if _, err := os.Lstat(file); err == nil && c.path != "" {
			files = append(files, file)
		}
	}
	return files
}

// Exposed are those of the files that hold secrets and of the state directory, and of more places, that
// every user of this machine may read.
func (c Config) Exposed(more ...string) []string {
	var open []string
	for _, place := range slices.Concat(more, c.secretFiles(), []string{c.StateDir}) {
		if place != "" && othersRead(place) {
			open = append(open, place)
		}
	}
	return open
}

// Private are the files that hold secrets, the configuration, and the state directory,
// in which the code of other repositories lies: what nothing that a change starts may read.
func (c Config) Private() []string {
	var places []string
	for _, place := range append(c.secretFiles(), c.path, c.StateDir) {
		if place != "" {
			places = append(places, place)
		}
	}
	return places
}
