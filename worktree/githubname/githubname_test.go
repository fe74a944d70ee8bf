package githubname

import (
	"strings"
	"testing"
)

func TestIsLogin(t *testing.T) {
	for name, want := range map[string]bool{
		"octocat": true, "octo-cat": true, "octo_acme": true, "acme-reviewer[bot]": true, "0": true, strings.Repeat("a", 64): true,
		"": false, "@octocat": false, "-octocat": false, "octo cat": false, "octo/cat": false, "octocat\n": false, "[bot]": false,
		"octocat[bot]x": false, strings.Repeat("a", 65): false,
	} {
		if got := IsLogin(name); got != want {
			t.Errorf("IsLogin(%.80q) is %v, want %v", name, got, want)
		}
	}
}
