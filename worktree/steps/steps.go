// Package steps ends a row of steps at the first one that fails, as testing's Fatal does outside of tests: in
// programs that measure or demonstrate, in attacks and schedules of which each step needs the one before, and in the
// endpoints of simulators. Products return errors instead.
package steps

import (
	"errors"
	"fmt"
)

// failure is the panic with which a step ends its row.
type failure struct{ error }

// Fail ends the row with an error.
func Fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// Must ends the row unless err is nil.
func Must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Got returns the value of a step that has succeeded, and ends the row otherwise.
func Got[T any](value T, err error) T {
	Must(err)
	return value
}

// Finally is a last step such as a Close, to be deferred. It runs however the row ends, and its error does not take the place
// of the one that ended the row.
func Finally(step func() error) {
	failed, err := recover(), step()
	switch failed := failed.(type) {
	case nil:
		Must(err)
	case failure:
		Must(errors.Join(failed.error, err))
	default:
		panic(failed)
	}
}

// Try runs a row of steps on this goroutine, and returns the error of the one that failed.
func Try(row func()) (err error) {
	defer func() {
		switch failed := recover().(type) {
		case nil:
		case failure:
			err = failed.error
		default:
			panic(failed)
		}
	}()
	row()
	return nil
}
