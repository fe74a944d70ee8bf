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

// redacted is printed in place of a secret.
const redacted = "[redacted]"

// Secret is a token that does not show itself: code that prints, logs or encodes it gets a placeholder. Only
// a conversion to string returns the token. As with every type, fmt does not call its methods when it prints
// a struct that has the secret in an unexported field.
type Secret string

// String returns the placeholder.
func (Secret) String() string { return redacted }

// Format prints the placeholder for every verb. Without it, %#v and invalid verbs would show the secret.
func (Secret) Format(state fmt.State, _ rune) { io.WriteString(state, redacted) }

// MarshalText encodes the placeholder, in JSON, YAML and structured logs alike.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// AdminTokenFile is the name that joining as an administrator gives to the file with the relay's token. The
// file lies next to the configuration, which need not name it.
const AdminTokenFile = "relay-admin-token"

// ModelKeysFile is the name that installing a service gives to the file with the provider keys that only the
// installing shell had, in lines of NAME=key. The file lies next to the configuration, which need not name
// it.
const ModelKeysFile = "model-keys"

// Environment returns this process's environment, plus the variables of ModelKeysFile that it lacks.
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
		line = strings.TrimSpace(line)
		name, _, named := strings.Cut(line, "=")
		if _, set := os.LookupEnv(name); !set && named && variableName.MatchString(name) { // not a comment
			environment = append(environment, line)
		}
	}
	return environment, err
}

// secretFiles returns the files that hold secrets; an entry is empty if its setting is.
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

// Exposed returns which secret files, and whether the state directory or any of the places in more, can be
// read by every user of this machine.
func (c Config) Exposed(more ...string) []string {
	places := slices.Concat(more, c.secretFiles(), []string{c.StateDir})
	return slices.DeleteFunc(places, func(place string) bool { return place == "" || !othersRead(place) })
}

// Private returns the files that hold secrets, the configuration and the state directory, in which the code
// of other repositories lies. Nothing that a change starts may read them.
func (c Config) Private() []string {
	places := append(c.secretFiles(), c.path, c.StateDir)
	return slices.DeleteFunc(places, func(place string) bool { return place == "" })
}
