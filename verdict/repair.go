package verdict

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commit is one of a pull request's commits, as the log tells of it.
type Commit struct {
	SHA string
	// By is who wrote it: a login, or a name where GitHub knows no login.
	By string
	// Bot says that no person wrote it.
	Bot bool
	// At is when it was made, by the clock of whoever made it.
	At time.Time
	// Rewritten says that it was amended, rebased or picked since it was first made.
	Rewritten bool
	// Message is the whole message, written by anybody.
	Message string
}

// Repair is what the commit of a fix says of itself, in trailers. It is the claim of
// whoever made the commit.
type Repair struct {
	// Reviewed is the head whose review it answers.
	Reviewed string
	// Findings are the ids of the findings that it repairs, Disputed of those that it
	// does not, each with a reason behind a space.
	Findings, Disputed []string
	// Change names what it changes, and Undoes what would take that back: two of one
	// name do the same. Both are empty where that is not known.
	Change, Undoes string
	// Cost is what its session took.
	Cost Cost
}

// The trailers of a fix.
const (
	fixReviewed = "Touchstone-Reviewed"
	fixFindings = "Touchstone-Findings"
	fixDisputed = "Touchstone-Disputed"
	fixChange   = "Touchstone-Change"
	fixUndoes   = "Touchstone-Undoes"
	fixCost     = "Touchstone-Cost"
)

// Trailers are the lines that end the message of a fix's commit. No value may hold a
// line break.
func (f Repair) Trailers() string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	line(fixReviewed, f.Reviewed)
	line(fixFindings, strings.Join(f.Findings, ", "))
	for _, d := range f.Disputed {
		line(fixDisputed, d)
	}
	line(fixChange, f.Change)
	line(fixUndoes, f.Undoes)
	if f.Cost != (Cost{}) {
		line(fixCost, fmt.Sprintf("%.4f USD, %s", f.Cost.USD, f.Cost.Time.Round(time.Second)))
	}
	return b.String()
}

var (
	fixLine = regexp.MustCompile(`(?m)^(Touchstone-[A-Z][a-z]+):[ \t]*([^\r\n]+?)[ \t]*\r?$`)
	costs   = regexp.MustCompile(`^([0-9]{1,6}(?:\.[0-9]{1,6})?) USD, ([0-9hms.]{1,20})$`)
)

// ParseRepair reads the message of a commit. It is no fix, and ok is false, unless it
// says which review it answers; of a message that was put together from several, the last.
func ParseRepair(message string) (f Repair, ok bool) {
	for _, m := range fixLine.FindAllStringSubmatch(message, -1) {
		switch value := m[2]; m[1] {
		case fixReviewed:
			f.Reviewed = value
		case fixFindings:
			for id := range strings.SplitSeq(value, ",") {
				f.Findings = append(f.Findings, strings.TrimSpace(id))
			}
		case fixDisputed:
			f.Disputed = append(f.Disputed, value)
		case fixChange:
			f.Change = value
		case fixUndoes:
			f.Undoes = value
		case fixCost:
			f.Cost = parseCost(value)
		}
	}
	return f, f.Reviewed != ""
}

// parseCost reads what a trailer says of costs; what cannot be is nothing.
func parseCost(text string) Cost {
	m := costs.FindStringSubmatch(text)
	if m == nil {
		return Cost{}
	}
	usd, errUSD := strconv.ParseFloat(m[1], 64)
	took, errTime := time.ParseDuration(m[2])
	if errUSD != nil || errTime != nil || took < 0 || math.IsInf(usd, 0) {
		return Cost{}
	}
	return Cost{USD: usd, Time: took}
}

// Answers reports whether a fix says anything of a finding.
func (f Repair) Answers(id string) bool {
	return slices.Contains(f.Findings, id) || slices.ContainsFunc(f.Disputed, func(d string) bool {
		about, _, _ := strings.Cut(d, " ")
		return about == id
	})
}
