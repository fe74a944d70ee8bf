package verdict

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Record is the hidden block of a posted review: what the product itself needs
// to know of it later, on any machine. The pull request is the only place
// where it is kept.
type Record struct {
	Verdict Verdict `json:"verdict"`
	// Head and Base are the full SHAs that were reviewed against each other.
	Head string `json:"head"`
	Base string `json:"base"`
	// Round counts the finished reviews of the pull request, this one included.
	Round int `json:"round"`
	// Guidelines is the content hash of the documents that were the law.
	Guidelines string `json:"guidelines"`
	Ledger     Ledger `json:"ledger"`
	Engine     string `json:"engine"`
	Model      string `json:"model,omitempty"`
	Tokens     Tokens `json:"tokens"`
	// CostUSD is in US dollars, 0 where the engine does not say.
	CostUSD  float64       `json:"cost_usd"`
	Duration time.Duration `json:"duration_ns"`
}

// Tokens counts what a session used.
type Tokens struct {
	Input      int64 `json:"in"`
	CacheWrite int64 `json:"cache_write"`
	CacheRead  int64 `json:"cache_read"`
	Output     int64 `json:"out"`
}

const (
	recordOpen  = "<!-- touchstone:state v1 "
	recordClose = " -->"
	// maxRecord bounds, in bytes, the block that is read from a review's body.
	maxRecord = 60_000
)

// ErrNoRecord says that a review's body does not end in a record and its
// marker: it was not written by this product, or was cut or altered since.
var ErrNoRecord = errors.New("the review carries no touchstone record")

// Seal is the two lines that end a posted review: the record and the marker.
func (r Record) Seal() (string, error) {
	// encoding/json writes '<' and '>' as escapes, so no text in the record can
	// close the comment.
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode the review's record: %w", err)
	}
	return recordOpen + string(data) + recordClose + "\n" + Marker(r.Verdict), nil
}

// ParseRecord reads the record from a posted review's body. Like the marker it
// counts only in its place at the very end, so that quoted text cannot stand
// in for it, and the two must agree. The caller judges who posted the review.
func ParseRecord(body string) (Record, error) {
	rest, marker := cutLastLine(body)
	_, line := cutLastLine(rest)
	data, ok := strings.CutPrefix(line, recordOpen)
	if ok {
		data, ok = strings.CutSuffix(data, recordClose)
	}
	if !ok || len(data) > maxRecord {
		return Record{}, ErrNoRecord
	}
	var r Record
	if err := json.Unmarshal([]byte(data), &r); err != nil {
		return Record{}, fmt.Errorf("%w: %v", ErrNoRecord, err)
	}
	if r.Verdict != Approve && r.Verdict != RequestChanges || marker != Marker(r.Verdict) {
		return Record{}, fmt.Errorf("%w: its marker and its record disagree", ErrNoRecord)
	}
	return r, nil
}

// Neutralise makes text that the product did not write itself safe to stand in
// a posted review: it can no longer form a marker, a record or any other
// hidden comment.
func Neutralise(text string) string {
	return strings.NewReplacer("<!--", "&lt;!--", "-->", "--&gt;").Replace(text)
}
