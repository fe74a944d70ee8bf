package author

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"touchstone/agent/forge"
	"touchstone/verdict"
)

func reported(answer string, b brief) report {
	var r report
	r.read(answer, b)
	return r
}

func open(id string) verdict.Entry {
	return verdict.Entry{ID: id, Status: verdict.Open, Dimension: verdict.Security, Severity: verdict.Major, Path: "a.go",
		Claim: "It is wrong."}
}

func TestACommitClaimsWhatTheSessionReports(t *testing.T) {
	b := brief{head: "0123456789", ledger: verdict.Ledger{open("0000000a"), open("0000000b"), open("0000000c"), open("0000000d")}}
	for name, tt := range map[string]struct {
		answers                    []string
		repaired, disputed, people string
		missing, wrong             string
	}{
		"one of each": {answers: []string{"Repaired 0000000a: x\nDisputed 0000000b: y\n- **Needs a person** 0000000c: z"},
			repaired: "0000000a", disputed: "0000000b", people: "0000000c", missing: "[0000000d]"},
		"nothing": {answers: []string{"All done."}, missing: "[0000000a 0000000b 0000000c 0000000d]"},
		"an unknown id": {answers: []string{"Repaired ffffffff: x"}, missing: "[0000000a 0000000b 0000000c 0000000d]",
			wrong: "ffffffff is no open finding and no failed check"},
		"one id in two forms": {answers: []string{"Repaired 0000000a: x\nDisputed 0000000a: y"},
			missing: "[0000000a 0000000b 0000000c 0000000d]", wrong: "0000000a cannot be both"},
		"one id twice": {answers: []string{"Repaired 0000000a: x\nRepaired 0000000a: y"}, repaired: "0000000a",
			missing: "[0000000b 0000000c 0000000d]"},
		"another language": {answers: []string{"Repariert 0000000a: x"}, missing: "[0000000a 0000000b 0000000c 0000000d]"},
		"no text":          {answers: []string{"Repaired 0000000a: "}, missing: "[0000000a 0000000b 0000000c 0000000d]"},
		"as code and quoted": {answers: []string{"> - `0000000a`: x\n> - **Repaired `0000000b`:** y"}, repaired: "0000000b",
			missing: "[0000000a 0000000c 0000000d]"},
		"another word later": {answers: []string{"Repaired 0000000a: x\nRepaired 0000000b: x", "Disputed 0000000a: y"}, repaired: "0000000b",
			disputed: "0000000a", missing: "[0000000c 0000000d]"},
	} {
		t.Run(name, func(t *testing.T) {
			var r report
			for _, answer := range tt.answers {
				r.read(answer, b)
			}
			fix, _ := verdict.ParseRepair(b.message("", r, verdict.Repair{}))
			first := func(words []string) string {
				id, _, _ := strings.Cut(strings.Join(words, ","), " ")
				return id
			}
			if got := strings.Join(fix.Findings, ","); got != tt.repaired || first(fix.Disputed) != tt.disputed || first(fix.Person) != tt.people {
				t.Errorf("the commit says %+v", fix)
			}
			if missing := r.missing(b.ledger); len(missing) > 0 && fmt.Sprint(missing) != tt.missing ||
				!strings.Contains(strings.Join(r.wrong, ""), tt.wrong) {
				t.Errorf("missing %v, wrong %q", missing, r.wrong)
			}
		})
	}
}

// TestACommitTellsWhatItRepairedOfAFailedCheck checks that the commit describes the repair of a failed check
// in the session's words, next to the findings.
func TestACommitTellsWhatItRepairedOfAFailedCheck(t *testing.T) {
	b := brief{head: "0123456789", ledger: verdict.Ledger{open("0000000a")},
		failed: []forge.FailedCheck{{Name: "build [linux]"}, {Name: "lint"}}}
	r := reported("Repaired 0000000a: guard the lookup\nRepaired check 1: name the package that was renamed, thanks @octocat\n"+
		"Disputed check 2: it is right\nRepaired check 3: x", b)
	message := b.message("", r, verdict.Repair{})
	const want = "\n\n- guard the lookup\n- build (linux): name the package that was renamed, thanks @&#8203;octocat\n\nTouchstone-"
	if !strings.Contains(message, want) {
		t.Errorf("the message is %q", message)
	}
	if got := strings.Join(r.wrong, "; "); got != "check 2 cannot be disputed; check 3 is no open finding and no failed check" {
		t.Errorf("wrong is %q", got)
	}
	b.ledger = nil
	alone := reported("Repaired check 2: order the imports", b)
	const only = "found\n\n- lint: order the imports\n\nTouchstone-Reviewed: 0123456789\n"
	if got := b.message("", alone, verdict.Repair{}); !strings.Contains(got, only) {
		t.Errorf("the message for a check alone is %q", got)
	}
}

// TestACheckCanBeLeftToAPerson checks that a check that failed for a reason outside the repository is left to
// a person, and that the session is not urged to change something.
func TestACheckCanBeLeftToAPerson(t *testing.T) {
	b := brief{failed: []forge.FailedCheck{{Name: "build"}, {Name: "lint"}}}
	const answer = "Needs a person check 1: run it again; its runner lost the network"
	if err := b.nothingChanged(reported(answer, b)); !errors.Is(err, ErrNothingChanged) {
		t.Errorf("with one of two checks left unsaid it ends in %v", err)
	}
	b.failed = b.failed[:1]
	err := b.nothingChanged(reported(answer, b))
	if !errors.Is(err, ErrNeedsPerson) || LeftToPerson(err.Error()) != "run it again; its runner lost the network" {
		t.Errorf("it ends in %v", err)
	}
}

func TestWhatIsLeftToAPersonIsTold(t *testing.T) {
	b := brief{ledger: verdict.Ledger{open("0000000a")}}
	const answer = "Needs a person 0000000a: take the promise out of the description; it is not kept"
	if got := LeftToPerson(b.nothingChanged(reported(answer, b)).Error()); got != "take the promise out of the description; it is not kept" {
		t.Errorf("it is %q", got)
	}
	b.ledger = append(b.ledger, open("0000000b"))
	if got := LeftToPerson(b.nothingChanged(reported(answer+"\nNeeds a person 0000000b: x", b)).Error()); got != "" {
		t.Errorf("of two it is %q", got)
	}
}

func TestCommitMessageMentionsNobodyAndForgesNothing(t *testing.T) {
	b := brief{head: "0123456789", ledger: verdict.Ledger{open("0000000a")}}
	answer := "Recurrence: add lint - ask @octocat\nRepaired 0000000a: ask @octocat [skip ci]\nCommit: Guard the lookup, thanks @octocat " +
		"[ci skip]\n"
	message := b.message(answer, reported(answer, b), verdict.Repair{})
	for _, bad := range []string{"@octocat", "[skip ci]", "[ci skip]"} {
		if strings.Contains(message, bad) {
			t.Errorf("it holds %s:\n%s", bad, message)
		}
	}
	if !strings.HasPrefix(message, "Guard the lookup, thanks ") || !strings.Contains(message, "\n- ask ") ||
		!strings.Contains(message, "\nTouchstone-Findings: 0000000a\n") || !strings.Contains(message, "\nRecurrence: add lint - ask ") {
		t.Errorf("it lost what it has to say:\n%s", message)
	}
	for _, subject := range []string{"Touchstone-Findings: 0000000a", "Merge branch 'main' into topic", "Revert \"x\"", "fixup! x", "\t"} {
		answer := "Commit: " + subject
		if message := b.message(answer, reported(answer, b), verdict.Repair{}); !strings.HasPrefix(message, "Apply review of 0123456\n\n") {
			t.Errorf("%q makes the message\n%s", subject, message)
		}
	}
}

func TestCommitMessageHoldsNoCredential(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	b := brief{head: "0123456789", ledger: verdict.Ledger{open("00000001"), open("00000002")}}
	answer := "Commit: Remove " + secret + "\nRepaired 00000001: it logged " + secret + "\nDisputed 00000002: b.go holds " + secret +
		"\nRecurrence: single occurrence - the key " + secret + " is revoked"
	message := b.message(answer, reported(answer, b), verdict.Repair{})
	if strings.Contains(message, secret) || strings.Count(message, "[redacted]") != 4 {
		t.Errorf("the message is\n%s", message)
	}
	if err := b.nothingChanged(reported(answer, b)); strings.Contains(err.Error(), secret) {
		t.Errorf("the error is %v", err)
	}
}

func TestPromptTellsOfConflictsWithoutMarkers(t *testing.T) {
	p := brief{conflicts: []conflict{{path: "a.txt"}, {path: "b.txt", unmarked: true}}}.prompt()
	if !strings.Contains(p, "- \"a.txt\"\n- \"b.txt\" (without markers") {
		t.Errorf("the prompt is %s", p)
	}
}

// TestACommitClosesNoIssue that nobody asked the session to close.
func TestACommitClosesNoIssue(t *testing.T) {
	for text, want := range map[string]string{
		"Fix #12 by a check":                          "Fix issue #12 by a check",
		"Closes:\n acme/app#7, resolved GH-3":         "Closes issue acme/app#7, resolved issue GH-3",
		"fixes https://github.com/acme/app/issues/12": "fixes issue https://github.com/acme/app/issues/12",
		"Fixed:#12": "Fixed issue #12",
		"Resolve https://registry.example/a through the proxy": "Resolve https://registry.example/a through the proxy",
		"Fix the 12 callers, see #12":                          "Fix the 12 callers, see #12",
		"prefix #12, fix #a":                                   "prefix #12, fix #a",
	} {
		if got := line(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
