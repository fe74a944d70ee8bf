package verdict

import (
	"fmt"
	"strings"
	"time"
)

// Merge is the evidence of a merge: what it rested on, as far as that can be told afterwards. The account that an agent
// draws up from GitHub and the relay's page, which has its log, fill it in; what it comes to is said here alone.
type Merge struct {
	SHA      string    `json:"sha"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	OpenedAt time.Time `json:"opened_at"`
	Head     string    `json:"head"`
	// Approvals are the reviews that are believed and approved the head.
	Approvals []Approval `json:"approvals"`
	// Passed are the names of the head's checks that passed, Lacked what the merge lacked, in sentences without their ends.
	Passed []string `json:"passed"`
	Lacked []string `json:"lacked"`
}

// Approval is a review that approved a head.
type Approval struct {
	Head  string `json:"head"`
	By    string `json:"by"`
	Round int    `json:"round"`
	URL   string `json:"url"`
	// Lifted is the word of the person who let pass what was held; nil if nothing was.
	Lifted *Word `json:"lifted,omitempty"`
}

// Proof is one piece of the evidence of a merge: a sentence without its end.
type Proof struct {
	Text string `json:"text"`
	// URL leads to where it can be seen; empty if nothing does.
	URL string `json:"url,omitempty"`
	// Lacks says that the text is about what the merge lacked.
	Lacks bool `json:"lacks,omitempty"`
}

// Evidence is what a merge rested on, and then what it lacked.
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

// Evidence is what an approval says, and who let pass what was held.
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

// Stamp is a moment as evidence names it, the same on every machine.
func Stamp(at time.Time) string { return at.UTC().Format(time.DateTime + " UTC") }
