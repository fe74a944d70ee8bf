package githubname_test

import (
	"strings"
	"testing"

	"touchstone/worktree/githubname"
)

func TestOnlyNamesThatGitHubAcceptsAreTaken(t *testing.T) {
	long := strings.Repeat("a", 100)
	for name, want := range map[string]bool{
		"acme/app": true, "a/b": true, "Octo-Cat/.github": true, "mona_acme/a_b-c.d": true, long[:64] + "/" + long: true,
		"": false, "acme": false, "acme/": false, "/app": false, "acme/app/more": false, "acme/..": false, "acme/.": false,
		"-acme/app": false, "_acme/app": false, ".acme/app": false, "ac me/app": false, "acme/a b": false, "acmé/app": false,
		"acme/app\n": false, "acme/a\\b": false, long[:65] + "/app": false, "acme/a" + long: false, "acme/*": false,
	} {
		owner, repository, ok := githubname.Split(name)
		if ok != want || ok && owner+"/"+repository != name || githubname.IsRepository(name) != want {
			t.Errorf("%q: %q, %q, %t, want %t", name, owner, repository, ok, want)
		}
	}
	for login, want := range map[string]bool{
		"octocat": true, "renovate[bot]": true, "mona_acme": true, "[bot]": false, "a[bot]b": false, "@a": false,
	} {
		if githubname.IsLogin(login) != want {
			t.Errorf("%q is a login: %t, want %t", login, !want, want)
		}
	}
}
