package event

import (
	"slices"
	"strings"
)

// A token is TokenPrefix, and an invitation's code is CodePrefix, followed by the token's id, "_" and the secret.
const (
	TokenPrefix = "rly_"
	CodePrefix  = "inv_"
)

// The id and the secret are 5 and 32 bytes in lower-case base32, which has no characters that a shell, a URL or a
// double click treats specially.
const (
	idLength     = 8
	secretLength = 52
)

// SplitToken splits a token, or with the other prefix a code, into its id and its secret.
func SplitToken(text, prefix string) (id, secret string, ok bool) {
	rest, found := strings.CutPrefix(text, prefix)
	id, secret, _ = strings.Cut(rest, "_")
	return id, secret, found && ValidTokenID(id) && encoded(secret, secretLength)
}

// ValidTokenID reports whether id has the form of a token's id.
func ValidTokenID(id string) bool { return encoded(id, idLength) }

// encoded reports whether text is base32 of this length.
func encoded(text string, length int) bool {
	return len(text) == length && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '2' || r > '7')
	})
}

// Mode is what a machine that joins is for.
type Mode string

// The modes.
const (
	// ForAuthor is a machine whose agent fixes and merges its user's pull requests.
	ForAuthor Mode = "author"
	// ForReviewer is the machine whose agent reviews.
	ForReviewer Mode = "reviewer"
	// ForAdmin is a person who runs the relay.
	ForAdmin Mode = "admin"
)

// Valid reports whether m is one of the modes.
func (m Mode) Valid() bool { return slices.Contains([]Mode{ForAuthor, ForReviewer, ForAdmin}, m) }

// Membership is what a relay gives for an invitation's code at POST /api/v1/join, once. POST /api/v1/join/look
// answers the same without the token.
type Membership struct {
	// Relay is the relay's address.
	Relay string `json:"relay"`
	// Token is the access token, which cannot be obtained again.
	Token string `json:"token,omitempty"`
	Role  Mode   `json:"role"`
	// Repositories are names and globs; none means all repositories of the relay.
	Repositories []string `json:"repositories"`
	// Reviewers are the logins whose verdicts count.
	Reviewers []string `json:"reviewers"`
}
