// Package token owns the relay's access tokens: what a token looks like, what its bearer may read, where a
// relay's tokens are kept, and which of them are valid right now. It stores the tokens' hashes, never a
// token.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"touchstone/relay/event"
)

// Role is the role of a token's bearer.
type Role string

// The roles.
const (
	// Subscriber reads the events within the token's scope.
	Subscriber Role = "subscriber"
	// Admin also reads the information about the relay itself, and changes the settings that the relay gives
	// to all agents.
	Admin Role = "admin"
)

// Token is what a relay knows of one token.
type Token struct {
	// ID is the middle part of the token. It is no secret: lists and logs show it.
	ID string `json:"id"`
	// Name says whose token it is, for people; 1 to 64 letters, digits and ".-_@".
	Name string `json:"name"`
	// Role is Subscriber or Admin.
	Role Role `json:"role"`
	// Sources and Repos limit what the bearer may read, as in event.Filter; empty means all.
	Sources []string `json:"sources,omitempty"`
	Repos   []string `json:"repos,omitempty"`
	// Created is when it was made.
	Created time.Time `json:"created"`
	// Revoked is when the token was revoked; nil while it is valid. Revoked tokens are kept, so that a relay
	// whose last token was revoked does not look like one without tokens, which lets every program on its
	// machine read.
	Revoked *time.Time `json:"revoked,omitempty"`
	// Hash is the SHA-256 of the secret part, in hexadecimal. A fast hash is right here: the secret is 256
	// random bits, which cannot be guessed at any speed. Slow hashes are for secrets that people choose, and
	// would let strangers waste our CPU time.
	Hash string `json:"sha256"`
	// Invite is set for an invitation: it gives no right to read, and its secret is that of the code.
	// Redeemed says that the token was an invitation.
	Invite   *Invite `json:"invite,omitempty"`
	Redeemed bool    `json:"redeemed,omitempty"`
}

// The sizes of a token's parts, which event.SplitToken knows as text.
const (
	idBytes     = 5
	secretBytes = 32
)

var (
	encoding  = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
	nameShape = regexp.MustCompile(`^[A-Za-z0-9._@-]{1,64}$`)
)

// New makes a token that is valid from now on. The string is the token itself, which cannot be retrieved
// later.
func New(name string, role Role, scope event.Filter) (Token, string, error) {
	random := make([]byte, idBytes+secretBytes)
	_, _ = rand.Read(random) // it cannot fail: https://pkg.go.dev/crypto/rand#Read
	secret := encoding.EncodeToString(random[idBytes:])
	t := Token{
		ID: encoding.EncodeToString(random[:idBytes]), Name: name, Role: role,
		Sources: scope.Sources, Repos: scope.Repos,
		Created: time.Now().UTC().Truncate(time.Second), Hash: hash(secret),
	}
	if err := t.validate(); err != nil {
		return Token{}, "", err
	}
	return t, event.TokenPrefix + t.ID + "_" + secret, nil
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// matches compares in a time that reveals nothing about the secret.
func (t Token) matches(secret string) bool {
	return subtle.ConstantTimeCompare([]byte(t.Hash), []byte(hash(secret))) == 1
}

// Scope returns what the bearer may read.
func (t Token) Scope() event.Filter {
	return event.Filter{Sources: t.Sources, Repos: t.Repos}
}

// same reports whether a bearer of t has the same rights under u.
func (t Token) same(u Token) bool {
	return t.Hash == u.Hash && t.Role == u.Role && t.Revoked == nil && u.Revoked == nil && u.Invite == nil &&
		slices.Equal(t.Sources, u.Sources) && slices.Equal(t.Repos, u.Repos)
}

// validate reports what is wrong with a token apart from its id. It checks both new and stored tokens.
func (t Token) validate() error {
	if !nameShape.MatchString(t.Name) {
		return errors.New("a name must be 1 to 64 letters, digits and . - _ @, such as laptop-1")
	}
	if t.Role != Subscriber && t.Role != Admin {
		return fmt.Errorf("a role must be %s or %s", Subscriber, Admin)
	}
	if digest, err := hex.DecodeString(t.Hash); err != nil || len(digest) != sha256.Size {
		return errors.New("its hash is not a SHA-256")
	}
	if t.Invite != nil {
		if err := t.Invite.validate(); err != nil {
			return err
		}
	}
	return t.Scope().Validate()
}
