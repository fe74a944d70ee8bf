package config

import "errors"

// Mistake is an error in the settings or the environment that was found before anything was done.
type Mistake struct{ Err error }

// Error returns the text of the error.
func (m Mistake) Error() string { return m.Err.Error() }

// Unwrap returns the error.
func (m Mistake) Unwrap() error { return m.Err }

// ErrNoRepository means that no repository to work on is known.
var ErrNoRepository error = Mistake{
	errors.New("no repository is configured; list them under `repositories` in agent.yaml, or give --repo owner/name"),
}
