package verdict

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Record is the hidden block of a posted review: what the product needs to know of the review later, on any
// machine. It is stored on the pull request and nowhere else.
type Record struct {
	Verdict Verdict `json:"verdict"`
	// Head and Base are the full SHAs that were reviewed against each other.
	Head string `json:"head"`
	Base string `json:"base"`
	// BaseBranch is the branch that Base was the tip of.
	BaseBranch string `json:"base_branch"`
	// Tree is the SHA of the tree that a squash merge of Head into Base makes: the reviewed change is the
	// diff from Base to Tree. A record without it carries no approval.
	Tree string `json:"tree,omitempty"`
	// PatchID identifies the pull request's own change, independent of its base.
	PatchID string `json:"patch_id,omitempty"`
	// Title is the pull request's title when it was reviewed. Description and Messages are hashes of its
	// description and of its commits' messages.
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Messages    string `json:"messages,omitempty"`
	// Round counts the finished reviews of the pull request, including this one.
	Round int `json:"round"`
	// Guidelines is the content hash of the guideline documents of the review.
	Guidelines string `json:"guidelines"`
	Ledger     Ledger `json:"ledger"`
	// Edits are the changes that an approval's nits propose: suggestions that replace whole lines. A
	// carried-over approval has none.
	Edits []Edit `json:"edits,omitempty"`
	// Merged counts the findings that another finding in the ledger covers. Dropped counts those that did not
	// hold. NotListed says of each what it was, and what covers it or why it was dropped. It can have fewer
	// than they count: a long record keeps only the worst, and records of earlier versions have none.
	Merged    int         `json:"merged,omitempty"`
	Dropped   int         `json:"dropped,omitempty"`
	NotListed []NotListed `json:"not_listed,omitempty"`
	// Checker is the engine and the model that were asked to refute findings, or to read an approval's text; empty if none.
	Checker string `json:"checker,omitempty"`
	// Settled says that only the ledger's findings and Holds stand against the head: there is no doubt about
	// the session's answer.
	Settled bool `json:"settled,omitempty"`
	// Holds say why a person must let the head pass. Lifted says who did.
	Holds  []Hold `json:"holds,omitempty"`
	Lifted *Word  `json:"lifted,omitempty"`
	// Evidence is what code suspected, each piece with the session's answer.
	Evidence []Evidence `json:"evidence,omitempty"`
	// LastComment is the id of the newest comment that existed when the review began. Orders in later
	// comments are not applied yet.
	LastComment int64 `json:"heard,omitempty"`
	// Tier is how thorough the review was, as the code that decided it names it.
	Tier     string   `json:"tier,omitempty"`
	Coverage Coverage `json:"coverage,omitzero"`
	// Lines counts the lines that the pull request adds and deletes, except those that need no reading; 0 if
	// not known.
	Lines  int    `json:"lines,omitempty"`
	Engine string `json:"engine"`
	Model  string `json:"model,omitempty"`
	// Usage is that of all sessions of the review.
	Usage Usage `json:"tokens"`
	// CostUSD is the cost of all of them in US dollars, 0 if the engine does not report it.
	CostUSD float64 `json:"cost_usd"`
	// Duration is the wall-clock time of the sessions: time during which several ran counts once.
	Duration time.Duration `json:"duration_ns"`
}

// Coverage counts the changed files of a review.
type Coverage struct {
	// Files counts the files that had to be examined, Examined those that were examined.
	Files    int `json:"files"`
	Examined int `json:"examined"`
	// LeftOut counts files that need no reading, such as lock files.
	LeftOut int `json:"left_out,omitempty"`
}

// Usage counts tokens, by the kinds that providers charge for.
type Usage struct {
	// Input is the tokens that were neither read from a cache nor written to one.
	Input      int64 `json:"in"`
	CacheWrite int64 `json:"cache_write"`
	CacheRead  int64 `json:"cache_read"`
	Output     int64 `json:"out"`
}

// Prompt is the number of tokens that the model read, cached or not.
func (u Usage) Prompt() int64 { return u.Input + u.CacheWrite + u.CacheRead }

// Total is the number of all tokens.
func (u Usage) Total() int64 { return u.Prompt() + u.Output }

// Plus is the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{Input: u.Input + v.Input, CacheWrite: u.CacheWrite + v.CacheWrite, CacheRead: u.CacheRead + v.CacheRead,
		Output: u.Output + v.Output}
}

// Max is the greater number of each kind, for figures that only grow.
func (u Usage) Max(v Usage) Usage {
	return Usage{Input: max(u.Input, v.Input), CacheWrite: max(u.CacheWrite, v.CacheWrite), CacheRead: max(u.CacheRead, v.CacheRead),
		Output: max(u.Output, v.Output)}
}

// Minus is the usage since an earlier sum.
func (u Usage) Minus(before Usage) Usage {
	return u.Plus(Usage{Input: -before.Input, CacheWrite: -before.CacheWrite, CacheRead: -before.CacheRead, Output: -before.Output})
}

const (
	recordOpen   = markOpen + "state v"
	unsignedOpen = recordOpen + "1 "
	signedOpen   = recordOpen + "2 "
	recordClose  = markClose
	// maxSeal bounds, in bytes, the closing lines of a review: less than half of
	// the 65,536 characters that GitHub takes, so that prose has room beside them.
	maxSeal = 30_000
)

// ErrNoRecord says that a review's body does not end in a record and its marker: this product did not write
// it, or it was cut or changed later.
var ErrNoRecord = errors.New("the review carries no touchstone record")

// State stores the pull request's own texts: the title, and hashes of the rest.
func (r *Record) State(title, description string, messages []string) {
	r.Title, r.Description, r.Messages = title, hash(description), hash(messages...)
}

// Describes reports whether a description is the reviewed one.
func (r Record) Describes(description string) bool { return r.Description == hash(description) }

// SaysTheSame reports whether two records have the same title, description and messages.
func (r Record) SaysTheSame(as Record) bool {
	return r.Title == as.Title && r.Description == as.Description && r.Messages == as.Messages
}

// hash identifies texts by 32 hexadecimal digits.
func hash(texts ...string) string {
	sum := sha256.New()
	for _, text := range texts {
		// The length keeps the end of one text from passing as the start of the next.
		fmt.Fprintf(sum, "%d\n%s", len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Enter stores a judgement in the record of its round. Before, the record must hold the ledger of the
// previous round.
func (r *Record) Enter(j Judgement) {
	r.Verdict, r.Settled, r.Holds = j.Verdict, j.settled(), slices.Clone(j.Holds)
	r.Merged, r.Dropped, r.NotListed = len(j.Merged), len(j.Dropped), bounded(j.NotListed())
	for i := range r.Holds {
		h := &r.Holds[i]
		h.Path, h.Detail = Clip(h.Path, maxRule), Clip(h.Detail, MaxReason)
	}
	r.Evidence = slices.Clone(j.Evidence)
	for i := range r.Evidence {
		e := &r.Evidence[i]
		e.Path, e.Detail = Clip(e.Path, maxRule), Clip(e.Detail, MaxReason)
	}
	r.Ledger = r.Ledger.After(r.Round, j)
}

// Seal is the two lines that end a posted review: the record, signed by s, and the marker. They are at most
// 30,000 bytes. A longer record loses findings that are not listed first, of which the counts remain, then
// edits, then evidence, then holds (one is enough), then ledger entries: settled ones before standing ones,
// mild ones before severe ones. It is an error if [ParseRecord] would not accept the record.
func (r Record) Seal(s Signer) (string, error) {
	switch {
	case !r.Verdict.valid():
		return "", fmt.Errorf("a review's record cannot say %q", r.Verdict)
	case r.Verdict == Approve && len(r.Holds) > 0 && r.Lifted == nil:
		return "", errors.New("a review's record cannot approve what is held for a person")
	}
	for {
		// encoding/json escapes '<' and '>', so no text in the record can close the comment.
		data, err := json.Marshal(r)
		if err != nil {
			return "", fmt.Errorf("encode the review's record: %w", err)
		}
		seal := s.sign(withoutMentions(string(data))) + recordClose + "\n" + Marker(r.Verdict)
		switch {
		case len(seal) <= maxSeal:
			return seal, nil
		case len(r.NotListed) > 0:
			r.NotListed = r.NotListed[:len(r.NotListed)/2]
		case len(r.Edits) > 0:
			r.Edits = r.Edits[:len(r.Edits)/2]
		case len(r.Evidence) > 0:
			r.Evidence = r.Evidence[:len(r.Evidence)/2]
		case len(r.Holds) > 1:
			r.Holds = r.Holds[:len(r.Holds)/2]
		case len(r.Ledger) == 0:
			return "", fmt.Errorf("the review's record takes %d bytes even without a ledger; %d is the most", len(seal), maxSeal)
		default:
			left := r.Ledger.shed()
			// Findings that are no longer in the ledger cannot be waived one by one.
			r.Settled = r.Settled && len(left.Outstanding()) == len(r.Ledger.Outstanding())
			r.Ledger = left
		}
	}
}

// ParseRecord reads the record from a posted review's body, as [ParseSealed] does. It does not check who
// wrote it.
func ParseRecord(body string) (Record, error) {
	sealed, err := ParseSealed(body)
	return sealed.Record, err
}

// Neutralise makes foreign text safe in a posted review: the text can no longer form a marker, a record or
// any other hidden comment.
func Neutralise(text string) string {
	// "<!x" and "<?x" also hide text in Markdown, see https://spec.commonmark.org/0.31.2/#html-blocks.
	return strings.NewReplacer("<!", "&lt;!", "<?", "&lt;?", "-->", "--&gt;").Replace(text)
}
