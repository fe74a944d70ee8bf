package verdict

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchstone/worktree/lazyregexp"
)

// Commit is one of a pull request's commits, as the log shows it.
type Commit struct {
	SHA string
	// By is the author: a login, or a name if GitHub knows no login.
	By string
	// Bot says that the author is no person.
	Bot bool
	// At is the author date, by the author's clock.
	At time.Time
	// Rewritten says that it was amended, rebased or cherry-picked after it was first made.
	Rewritten bool
	// Message is the whole message. Any author may have written it.
	Message string
	// Unsigned says that this commit is not known to be by the agent of the pull request's author, so the
	// costs in its trailers do not count.
	Unsigned bool
}

// Repair is what the commit of a fix says about itself in trailers. It is a claim of the commit's author.
type Repair struct {
	// Reviewed is the head whose review the fix answers.
	Reviewed string
	// Findings are the ids of the findings that it fixes. Disputed are those that it considers wrong, and
	// Person those that only a person can settle, each as an id, a space and a reason.
	Findings, Disputed, Person []string
	// Change identifies what the fix changes, and Undoes the change that would revert it: two fixes with the
	// same Change do the same. Both are empty if not known.
	Change, Undoes string
	// Tests says which tests passed on the base and now fail, as the machine of the commit's author reports
	// it. It is empty if there are none, or that is not known.
	Tests string
	// Model is the engine and the model that made the fix; empty if none was needed.
	Model string
	// Cost is the cost of its session.
	Cost Cost
	// signature is the value of the signature trailer, empty if there is none.
	signature string
}

// The trailers of a fix.
const (
	fixReviewed = "Touchstone-Reviewed"
	fixFindings = "Touchstone-Findings"
	fixDisputed = "Touchstone-Disputed"
	fixPerson   = "Touchstone-Person"
	fixChange   = "Touchstone-Change"
	fixUndoes   = "Touchstone-Undoes"
	fixTests    = "Touchstone-Tests"
	fixModel    = "Touchstone-Model"
	fixCost     = "Touchstone-Cost"
	fixSigned   = "Touchstone-Signature"
)

// Trailers are the lines at the end of a fix's commit message. No value may contain a line break.
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
	for _, p := range f.Person {
		line(fixPerson, p)
	}
	line(fixChange, f.Change)
	line(fixUndoes, f.Undoes)
	line(fixTests, f.Tests)
	line(fixModel, f.Model)
	line(fixCost, f.cost())
	line(fixSigned, f.signature)
	return b.String()
}

func (f Repair) cost() string {
	if f.Cost == (Cost{}) {
		return ""
	}
	return fmt.Sprintf("%.4f USD, %s", f.Cost.USD, f.Cost.Time.Round(time.Second))
}

// signed are the bytes that the signature of a fix covers: its costs, and the pull request and review that
// they belong to.
func (f Repair) signed(pull int64) []byte {
	return fmt.Appendf(nil, "touchstone:fix v1 %d %s %s", pull, f.Reviewed, f.cost())
}

// Signed is the fix with its costs signed. A signer without a key leaves them unsigned.
func (f Repair) Signed(s Signer) Repair {
	if len(s.Key) > 0 && f.Cost != (Cost{}) {
		public, _ := s.Key.Public().(ed25519.PublicKey)
		f.signature = hex.EncodeToString(public) + " " + hex.EncodeToString(ed25519.Sign(s.Key, f.signed(s.Pull)))
	}
	return f
}

// SignedFor is the public key that signed the costs for a pull request, numbered as in [Signer.Pull]. It is
// nil if the costs are unsigned or were changed later.
func (f Repair) SignedFor(pull int64) ed25519.PublicKey {
	public, signature, _ := strings.Cut(f.signature, " ")
	key, errKey := hex.DecodeString(public)
	made, errMade := hex.DecodeString(signature)
	if errKey != nil || errMade != nil || len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, f.signed(pull), made) {
		return nil
	}
	return key
}

var (
	fixLine = lazyregexp.New(`(?m)^(Touchstone-[A-Z][a-z]+):[ \t]*([^\r\n]+?)[ \t]*\r?$`)
	costs   = lazyregexp.New(`^([0-9]{1,6}(?:\.[0-9]{1,6})?) USD, ([0-9hms.]{1,20})$`)
)

// ParseRepair reads a commit message. Result ok is false if the message does not say which review it answers:
// then it is no fix. Of single values that appear more than once, as in a squashed message, the last one
// counts.
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
		case fixPerson:
			f.Person = append(f.Person, value)
		case fixChange:
			f.Change = value
		case fixUndoes:
			f.Undoes = value
		case fixTests:
			f.Tests = value
		case fixModel:
			f.Model = value
		case fixCost:
			f.Cost = parseCost(value)
		case fixSigned:
			f.signature = value
		}
	}
	return f, f.Reviewed != ""
}

// bookkeeping matches the trailers of a fix that only programs read, exactly as Trailers writes them.
var bookkeeping = lazyregexp.New(`(?m)^Touchstone-(?:Reviewed: [0-9a-f]{7,64}` +
	`|(?:Change|Undoes): (?:[0-9a-f]{16,64}|a resolved conflict)` +
	`|Cost: [0-9.]{1,13} USD, [0-9hms.]{1,20}|Signature: [0-9a-f]{64} [0-9a-f]{128})[ \t]*\r?(?:\n|\z)`)

// Readable is a commit message without the trailers of a fix that tell people nothing.
func Readable(message string) string {
	return strings.TrimSpace(bookkeeping.ReplaceAllString(message, ""))
}

// DisputedAs is the trailer by which a fix's commit message disputes a finding.
func DisputedAs(id, why string) string { return fixDisputed + ": " + id + " " + why }

// parseCost reads the costs in a trailer. Impossible values are read as no cost.
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

// Answers reports whether a fix claims to have fixed a finding, or disputes it.
func (f Repair) Answers(id string) bool {
	return slices.Contains(f.Findings, id) || slices.ContainsFunc(f.Disputed, func(d string) bool {
		about, _, _ := strings.Cut(d, " ")
		return about == id
	})
}
