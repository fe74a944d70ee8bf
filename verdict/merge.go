package verdict

import (
	"fmt"
	"strings"
	"time"
)

// Merge is the evidence behind a merge, as far as it can be known afterwards. Two places fill it in: the
// account that an agent draws up from GitHub, and the relay's page, from its log. Only this type says what
// the evidence amounts to.
type Merge struct {
	SHA      string    `json:"sha"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	OpenedAt time.Time `json:"opened_at"`
	Head     string    `json:"head"`
	// Approvals are the reviews that approved the head and are believed.
	Approvals []Approval `json:"approvals"`
	// Passed are the names of the head's checks that passed. Lacked is what the merge lacked, as sentences
	// without their full stops.
	Passed []string `json:"passed"`
	Lacked []string `json:"lacked"`
}

// Approval is a review that approved a head.
type Approval struct {
	Head  string `json:"head"`
	By    string `json:"by"`
	Round int    `json:"round"`
	URL   string `json:"url"`
	// Lifted is the word of the person who lifted the holds; nil if there were none.
	Lifted *Word `json:"lifted,omitempty"`
}

// Proof is one piece of the evidence of a merge: a sentence without its full stop.
type Proof struct {
	Text string `json:"text"`
	// URL shows where it can be seen; empty if nowhere.
	URL string `json:"url,omitempty"`
	// Lacks says that the text is about something that the merge lacked.
	Lacks bool `json:"lacks,omitempty"`
}

// Evidence lists what a merge rested on, and then what it lacked.
func (m Merge) Evidence() []Proof {
	merged := "Merged"
	if m.SHA != "" {
		merged += " as " + Short(m.SHA)
	}
	if m.By != "" {
		merged += " by " + m.By
	}
	took := max(0, m.At.Sub(m.OpenedAt)).Round(time.Second)
	all := []Proof{{Text: fmt.Sprintf("%s, %s, %s after it was opened", merged, Stamp(m.At), took)}}
	for _, a := range m.Approvals {
		all = append(all, a.Evidence()...)
	}
	if len(m.Passed) > 0 {
		all = append(all, Proof{Text: "these of its checks passed: " + strings.Join(m.Passed, ", ")})
	}
	for _, text := range m.Lacked {
		all = append(all, Proof{Text: text, Lacks: true})
	}
	return all
}

// Evidence says what the approval was, and who lifted the holds.
func (a Approval) Evidence() []Proof {
	all := []Proof{{Text: fmt.Sprintf("%s was approved by %s in round %d", Short(a.Head), a.By, a.Round), URL: a.URL}}
	if lift := a.Lifted; lift != nil {
		how := "by approving it"
		if lift.BrokeGlass {
			how = "by breaking the glass"
		}
		all = append(all, Proof{Text: strings.TrimSpace(fmt.Sprintf("%s let it pass %s, %s %s", lift.By, how, Stamp(lift.At), lift.Why))})
	}
	return all
}

// Stamp formats a time for evidence, the same on every machine.
func Stamp(at time.Time) string { return at.UTC().Format(time.DateTime + " UTC") }
