package forge

import "testing"

// What CI did not start or lost is none of the change's doing; what ran out of time may be.
func TestRunState(t *testing.T) {
	for conclusion, want := range map[string]CheckState{
		"STARTUP_FAILURE": CheckStartupFailure, "stale": CheckStale, "TIMED_OUT": CheckFailure, "of the future": CheckFailure, "": CheckFailure,
	} {
		if got := runState("COMPLETED", conclusion); got != want {
			t.Errorf("%q is %s, want %s", conclusion, got, want)
		}
	}
}
