package ci_test

import (
	"strings"
	"testing"
)

// A job takes the failure of all others together. Someone makes one of them optional: it runs, and fails nothing.
func TestAJobNoLongerFailsTheGate(t *testing.T) {
	all := func(gate string) string {
		return "on: pull_request\njobs:\n  a:\n    steps:\n      - run: ./a\n  b:\n    steps:\n      - run: ./b\n  c:\n" +
			"    needs: [b]\n    steps:\n      - run: ./c\n  g:\n" + gate
	}
	for name, gate := range map[string]string{
		"results of all": "    needs: [a, b]\n    if: always()\n    steps:\n" +
			"      - run: jq --exit-status 'all(.result == \"success\")' <<< '${{ toJson(needs) }}'\n",
		"a condition of the step": "    needs: [a, b]\n    if: ${{ !cancelled() }}\n    steps:\n" +
			"      - if: contains(needs.*.result, 'failure')\n        run: exit 1\n",
		"a variable": "    needs:\n      - a\n      - b\n    if: always()\n    steps:\n      - env:\n" +
			"          BAD: ${{ contains(needs.*.result, 'failure') }}\n        run: test \"$BAD\" = false\n",
		"an action": "    needs: [a, b]\n    if: always()\n    steps:\n" +
			"      - {uses: re-actors/alls-green@v1, with: {jobs: '${{ toJSON(needs) }}'}}\n",
	} {
		before := all(gate)
		after := strings.NewReplacer("needs: [a, b]", "needs: [b]", "      - a\n", "").Replace(before)
		if got := found(workflow, before, after); got != "hold ci/gate:13" {
			t.Errorf("%s: %q", name, got)
		}
		if got := found(workflow, after, before); got != "" {
			t.Errorf("%s, one more: %q", name, got)
		}
		through := strings.NewReplacer("needs: [a, b]", "needs: [a, c]", "      - b\n", "      - c\n").Replace(before)
		if got := found(workflow, before, through); got != "" {
			t.Errorf("%s, through another job: %q", name, got)
		}
		gone := strings.Replace(after, "  a:\n    steps:\n      - run: ./a\n", "", 1)
		if got := found(workflow, before, gone); strings.Contains(got, "ci/gate") {
			t.Errorf("%s, and the job is gone: %q", name, got)
		}
		optional := strings.Replace(before, "  g:\n", "  g:\n    continue-on-error: true\n", 1)
		if got := found(workflow, before, optional); !strings.Contains(got, "hold ci/gate:13") {
			t.Errorf("%s, and it cannot fail: %q", name, got)
		}
	}
	allowed := all("    needs: [a, b]\n    if: always()\n    steps:\n      - uses: re-actors/alls-green@v1\n        with:\n" +
		"          jobs: ${{ toJSON(needs) }}\n")
	if got := found(workflow, allowed, allowed+"          allowed-failures: a\n"); got != "hold ci/gate:13" {
		t.Errorf("an allowed failure: %q", got)
	}
	each := all("    needs: [a, b]\n    if: always()\n    steps:\n      - if: needs.a.result != 'success' || needs.b.result != 'success'\n" +
		"        run: exit 1\n")
	if got := found(workflow, each, strings.Replace(each, "needs.a.result != 'success' || ", "", 1)); got != "hold ci/gate:13" {
		t.Errorf("one result is not read: %q", got)
	}
	says := all("    needs: [a, b]\n    if: always()\n    steps:\n      - uses: o/tell@v1\n        with: {text: '${{ needs.a.result }}'}\n")
	if got := found(workflow, says, strings.Replace(says, "[a, b]", "[b]", 1)); got != "" {
		t.Errorf("it only reports: %q", got)
	}
	ran := all("    needs: [a, b]\n    if: always() && needs.a.result != 'skipped'\n    steps:\n      - run: exit 1\n")
	if got := found(workflow, ran, strings.Replace(ran, " && needs.a.result != 'skipped'", "", 1)); got != "" {
		t.Errorf("it only asks whether a job ran: %q", got)
	}
}
