package verdict

import (
	"errors"
	"fmt"
	"strings"
)

// Draft is a guideline row that a session proposes.
type Draft struct {
	Severity  string `json:"severity"`
	Scope     string `json:"scope"`
	Criterion string `json:"criterion"`
	// Reason tells the person who decides why the row is needed.
	Reason string `json:"reason"`
}

// maxCriterion bounds a drafted criterion, in bytes: a row is one statement.
const maxCriterion = 1500

// ReadDraft reads a draft from a whole answer, which must end in this run's nonce. It squeezes white space in
// the fields, since a row is one line. The error, a sentence fragment, says why an answer does not count.
func ReadDraft(text, nonce string) (Draft, error) {
	body, last := cutLastLine(strings.ReplaceAll(text, "\r\n", "\n"))
	if nonce == "" || last != RunLine(nonce) {
		return Draft{}, errors.New("its answer does not end in this run's nonce")
	}
	var d Draft
	if _, err := readBlock(body, &d); err != nil {
		return Draft{}, err
	}
	for _, field := range []*string{&d.Severity, &d.Scope, &d.Criterion, &d.Reason} {
		*field = OneLine(*field)
	}
	switch {
	case d.Severity == "" || d.Scope == "" || d.Criterion == "" || d.Reason == "":
		return Draft{}, errors.New("it leaves out the severity, the scope, the criterion or the reason")
	case len(d.Criterion) > maxCriterion:
		return Draft{}, fmt.Errorf("its criterion has %d bytes, more than %d", len(d.Criterion), maxCriterion)
	}
	d.Reason = Clip(d.Reason, MaxReason*2)
	return d, nil
}
