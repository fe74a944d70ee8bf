package author

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"touchstone/agent/forge"
	"touchstone/guidelines"
	"touchstone/verdict"
)

// dispute is the line by which a session says that a finding is wrong, and why.
var dispute = regexp.MustCompile(`(?m)^[-*\s]*Disputed ([0-9a-f]{8}): *(\S[^\r\n]*)$`)

// maxEvidence bounds what a commit repeats of a dispute, in bytes.
const maxEvidence = 400

// disputes are the open findings that the session calls wrong, by id.
func (b brief) disputes(answer string) map[string]string {
	disputed := map[string]string{}
	for _, d := range dispute.FindAllStringSubmatch(answer, -1) {
		for _, e := range b.ledger.Outstanding() {
			if e.ID == d[1] {
				evidence := line(d[2])
				disputed[e.ID] = strings.ToValidUTF8(evidence[:min(len(evidence), maxEvidence)], "")
			}
		}
	}
	return disputed
}

// nothingChanged is ErrNothingChanged with what the session disputes instead; ErrDisputed
// where that is all that there was to do.
func (b brief) nothingChanged(answer string) error {
	disputed, outstanding := b.disputes(answer), b.ledger.Outstanding()
	err := ErrNothingChanged
	if len(disputed) > 0 && len(disputed) == len(outstanding) && len(b.failed)+len(b.conflicts) == 0 {
		err = ErrDisputed
	}
	for _, e := range outstanding {
		if evidence, ok := disputed[e.ID]; ok {
			err = fmt.Errorf("%w; it disputes %s: %s", err, e.ID, evidence)
		}
	}
	return err
}

// message is the commit's: which review it answers, which findings it claims to
// repair, and which it disputes. Its trailers, with what else the repair says of
// itself, are read in the next rounds.
func (b brief) message(answer string, r verdict.Repair) string {
	var m strings.Builder
	reviewed := b.head[:min(7, len(b.head))]
	outstanding, disputed := b.ledger.Outstanding(), b.disputes(answer)
	switch {
	case len(outstanding) > 0:
		fmt.Fprintf(&m, "Apply review of %s\n\n", reviewed)
		for _, e := range outstanding {
			if _, wrong := disputed[e.ID]; wrong {
				continue
			}
			r.Findings = append(r.Findings, e.ID)
			fmt.Fprintf(&m, "- [%s] %s\n", e.Dimension, line(e.Path+": "+e.Claim))
		}
	case len(b.failed) > 0:
		fmt.Fprintf(&m, "Mend what the checks of %s found\n", reviewed)
	case b.review != "":
		fmt.Fprintf(&m, "Apply review of %s\n", reviewed)
	default:
		m.WriteString("Resolve conflicts with the base\n")
	}
	r.Reviewed = b.head
	for _, e := range outstanding {
		if evidence, wrong := disputed[e.ID]; wrong {
			r.Disputed = append(r.Disputed, e.ID+" "+evidence)
		}
	}
	m.WriteString("\n" + r.Signed(b.signer).Trailers())
	// The session cannot write commit messages itself. One action is what the guideline asks for.
	if declared := slices.Collect(maps.Values(guidelines.Recurrence(answer))); len(declared) == 1 {
		fmt.Fprintln(&m, line(declared[0]))
	}
	return m.String()
}

func ids(l verdict.Ledger) []string {
	var ids []string
	for _, e := range l.Outstanding() {
		ids = append(ids, e.ID)
	}
	return ids
}

// line is what a model wrote as it may stand in a commit message: a mention notifies from
// there as well, a line break could forge a trailer, and a credential cannot be taken back.
func line(s string) string {
	return strings.Join(strings.Fields(verdict.Prose(forge.Redact(s))), " ")
}
