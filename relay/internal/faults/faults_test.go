package faults_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"touchstone/relay/internal/faults"
)

// The same error is logged once a minute, another one or another message at once, and of errors that are all different no more
// than ten.
func TestALastingFaultIsLoggedOnceAMinuteAndAnotherAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log faults.Log
		var text bytes.Buffer
		ctx := zerolog.New(&text).WithContext(t.Context())
		say := func(times int, cause, message string) {
			for range times {
				log.Write(ctx, zerolog.ErrorLevel, errors.New(cause), message)
			}
		}
		expect := func(when string, want int) {
			t.Helper()
			if got := strings.Count(text.String(), "\n"); got != want {
				t.Errorf("%s, there are %d lines, want %d:\n%s", when, got, want, &text)
			}
			text.Reset()
		}
		say(5, "locked", "not stored")
		expect("with one error", 1)
		say(5, "full", "not stored")
		say(5, "locked", "not stored")
		say(5, "locked", "not ready")
		expect("with another error, and another message", 2)
		time.Sleep(time.Minute)
		say(5, "locked", "not stored")
		expect("a minute later", 1)
		for i := range 100 {
			say(1, fmt.Sprint("connection ", i), "not stored")
		}
		say(1, "locked", "not ready")
		expect("with a hundred errors, and another message", 10)
	})
}
