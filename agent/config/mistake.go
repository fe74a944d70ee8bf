package config

import "errors"

// Mistake is an error about the settings or the environment that was found before anything was done.
type Mistake struct{ Err error }

// Error is the error's own text.
func (m Mistake) Error() string { return m.Err.Error() }

// Unwrap gives the error.
func (m Mistake) Unwrap() error { return m.Err }

// ErrNoRepository says that no repository is known to work on.
var ErrNoRepository error = Mistake{
	errors.New("no repository is configured; list them under `repositories` in agent.yaml, or give --repo owner/name"),
}
