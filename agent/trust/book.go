package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// entry is a Reviewer in the book's file, keyed by login. The sum covers both: without it, a damaged bit
// could turn a reviewer into one that this machine has never met, whose next key it would trust. A person may
// delete a whole entry. Entries by older versions have no sum.
type entry struct {
	Reviewer
	Sum string `json:"sum,omitempty"`
}

// sum returns half of the SHA-256 of an entry, in hexadecimal digits.
func sum(login string, r Reviewer) string {
	all := sha256.Sum256(fmt.Appendf(nil, "%q %d %q %s", login, r.ID, r.Key, r.Since.Format(time.RFC3339Nano)))
	return hex.EncodeToString(all[:16])
}

func format(known map[string]Reviewer) ([]byte, error) {
	entries := map[string]entry{}
	for login, r := range known {
		entries[login] = entry{r, sum(login, r)}
	}
	data, err := json.MarshalIndent(entries, "", "  ")
	return append(data, '\n'), err
}

// parse parses a book; its error says that the data are not as this program wrote them.
func parse(data []byte) (map[string]Reviewer, error) {
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	var entries map[string]entry
	if err := strict.Decode(&entries); err != nil {
		return nil, err
	}
	if _, err := strict.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has extra data at its end")
	}
	known := map[string]Reviewer{}
	for login, e := range entries {
		if e.Sum != "" && e.Sum != sum(login, e.Reviewer) {
			return nil, fmt.Errorf("the entry of %q is damaged", login)
		}
		known[login] = e.Reviewer
	}
	return known, nil
}
