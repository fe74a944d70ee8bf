package build

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestABuildIsDescribedByVersionAndCommit(t *testing.T) {
	made := runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-11-23T07:51:16Z"},
	}}
	if got, want := describe(info, "v0.2.0"), "v0.2.0 (0123456789ab, 2026-11-23) "+made; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := describe(nil, "development"), "development "+made; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
