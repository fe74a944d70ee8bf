package author

import (
	"errors"
	"strings"
	"testing"

	"touchstone/worktree/diff"
)

// adds is a diff that adds one line to a file.
func adds(name, line string) []diff.Diff {
	return []diff.Diff{{Files: []diff.File{{Path: name, Patch: []byte("@@ -0,0 +1 @@\n+" + line + "\n")}}}}
}

func TestPipelinesAreKeptFromCredentials(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"      ALL: ${{ toJSON(secrets) }}", "A: ${{ format('{0}', secrets.A) }}", "A: ${{ SECRETS.FOO }}", "    secrets: inherit",
		"A: ${{ github.token }}", "A: ${{ GitHub . Token }}", "A: ${{ github['token'] }}", "A: ${{ toJSON( github ) }}",
		"A: ${{ join(github.*) }}", "A: ${{ github",
		"permissions:", `"permissions":`, "'permissions': {}", "jobs: {a: {permissions: {contents: read}}}",
		"  contents: write", "  contents: write # note", `  contents: "write"`, "  {contents: write, id-token: 'write'}",
		"permissions: write-all",
		"on: workflow_run", "on: [push, pull_request_target]", "    environment: production", `  "permiss\u0069ons": {}`,
		"withCredentials([string(credentialsId: 'a')])", "$(System.AccessToken)", "from_secret: key",
	} {
		if err := written(adds(".github/workflows/ci.yml", line)); !errors.Is(err, ErrForbidden) {
			t.Errorf("%q: %v", line, err)
		}
		if err := written(adds("app.yaml", line)); err != nil {
			t.Errorf("%q is refused in a file that is no pipeline: %v", line, err)
		}
	}
	for _, line := range []string{
		"  contents: read", "  run: go test ./...", "on: [push, pull_request]", "A: ${{ github.sha }}", "  uses: actions/checkout@v4",
		"  run: ./write-docs.sh",
		"  name: the environment", "runs-on: ubuntu-latest",
	} {
		if err := written(adds(".github/workflows/ci.yml", line)); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestPipelinesAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields(`.github/workflows/ci.yml .github/actions/a/action.yml sub/action.yaml .gitlab-ci.yml .gitlab/ci/build.yml
		.circleci/config.yml Jenkinsfile ci/Jenkinsfile.release azure-pipelines.yml bitbucket-pipelines.yml .buildkite/pipeline.yml .drone.yml
		.woodpecker.yml .woodpecker/test.yaml .forgejo/workflows/a.yml .gitea/workflows/a.yml .travis.yml`) {
		if !isPipeline(name) {
			t.Errorf("%s is none", name)
		}
	}
	for _, name := range strings.Fields(".github/CONTRIBUTING.md action.go app.yml github/a.yml reaction.yml") {
		if isPipeline(name) {
			t.Errorf("%s is one", name)
		}
	}
}
