package main

import (
	"slices"
	"testing"

	"touchstone/agent/config"
)

// TestCommandsKeepTheirCommas checks that the values for verify and the patterns of commands arrive
// unchanged, commas included.
func TestCommandsKeepTheirCommas(t *testing.T) {
	t.Parallel()
	const verify, pattern = `go test -run "A|B,C" ./...`, "cut -d, -f1 *"
	var o options
	if err := o.command().ParseFlags([]string{"--verify", verify, "--allow", pattern}); err != nil {
		t.Fatal(err)
	}
	settings, err := config.ParseRepository([]byte(o.settings()[config.RepositoryPath]))
	if want := []string{"sh", "-c", verify}; err != nil || !slices.Equal(settings.Verify.Command, want) {
		t.Errorf("verify.command is %q, %v; want %q", settings.Verify.Command, err, want)
	}
	if !slices.Equal(o.allow, []string{pattern}) {
		t.Errorf("the patterns are %q", o.allow)
	}
}
