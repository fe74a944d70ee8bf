package token

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchstone/relay/event"
	"touchstone/worktree/githubname"
)

// Invite is the part of a token that makes it an invitation, which can only be exchanged, once, for an
// ordinary token.
type Invite struct {
	// Mode is the purpose of the machine that redeems the invitation.
	Mode event.Mode `json:"mode"`
	// Reviewers are the logins whose verdicts count on that machine; at most 20.
	Reviewers []string `json:"reviewers,omitempty"`
	// Expires is when the invitation expires.
	Expires time.Time `json:"expires"`
}

// Bounds of an invitation's life.
const (
	minInvite    = time.Minute
	maxInvite    = 30 * 24 * time.Hour
	maxReviewers = 20
)

// good reports whether an invitation can be redeemed now. One that is valid for longer than maxInvite, plus a
// day for clocks that differ, was made while the clock was ahead.
func (i Invite) good(now time.Time) bool {
	left := i.Expires.Sub(now)
	return left > 0 && left <= maxInvite+24*time.Hour
}

// The reasons why Redeem gives no token, as sentences for people.
var (
	ErrNoInvite   = errors.New("invitation not found on this relay; ask its sender for a new one")
	ErrInviteUsed = errors.New("this invitation was already used, and works only once; ask for a new one, and if you did not " +
		"use it, have its access token revoked")
	ErrInviteExpired = errors.New("this invitation has expired; ask for a new one")
)

// NewInvite makes an invitation that is valid for life, at least a minute and at most 30 days. The string is
// the code that redeems it, which cannot be retrieved later.
func NewInvite(name string, mode event.Mode, scope event.Filter, reviewers []string, life time.Duration) (Token, string, error) {
	role := Subscriber
	if mode == event.ForAdmin {
		role = Admin
	}
	if life < minInvite || life > maxInvite {
		return Token{}, "", errors.New("an invitation must be valid for at least a minute and at most 30 days")
	}
	t, text, err := New(name, role, scope)
	if err != nil {
		return Token{}, "", err
	}
	t.Invite = &Invite{Mode: mode, Reviewers: reviewers, Expires: t.Created.Add(life)}
	return t, event.CodePrefix + strings.TrimPrefix(text, event.TokenPrefix), t.Invite.validate()
}

// validate reports values that cannot be meant.
func (i Invite) validate() error {
	if !i.Mode.Valid() {
		return fmt.Errorf("the role of an invitation must be %s, %s or %s", event.ForAuthor, event.ForReviewer, event.ForAdmin)
	}
	if len(i.Reviewers) > maxReviewers {
		return fmt.Errorf("too many reviewers; name at most %d", maxReviewers)
	}
	return ValidateLogins(i.Reviewers)
}

// ValidateLogins reports the first of the logins that GitHub would not allow.
func ValidateLogins(logins []string) error {
	for _, login := range logins {
		if !githubname.IsLogin(login) {
			return fmt.Errorf("%.60q is not a login on GitHub; write it without an @, such as octocat", login)
		}
	}
	return nil
}

// redeem exchanges a code for a token that is valid at once, and returns the invitation and the token's text.
// It succeeds once for each code, also under concurrent calls. The errors are ErrNoInvite, ErrInviteUsed,
// ErrInviteExpired and those of the store. It checks the code before it takes the lock, so that strangers who
// guess codes do not keep others from changing the tokens.
func redeem(ctx context.Context, store Store, code string) (made Token, text string, err error) {
	id, secret, err := parseCode(code)
	if err != nil {
		return Token{}, "", err
	}
	tokens, err := store.Load(ctx)
	if err == nil {
		_, err = invited(tokens, id, secret)
	}
	if err != nil {
		return Token{}, "", err
	}
	err = store.Update(ctx, func(tokens []Token) ([]Token, error) {
		i, err := invited(tokens, id, secret)
		if err != nil {
			return nil, err
		}
		made = tokens[i]
		good, fresh, err := New(made.Name, made.Role, made.Scope())
		if err != nil {
			return nil, err
		}
		good.ID, good.Redeemed = made.ID, true
		_, secret, _ := event.SplitToken(fresh, event.TokenPrefix)
		text = event.TokenPrefix + made.ID + "_" + secret
		tokens[i] = good
		return tokens, nil
	})
	return made, text, err
}

// parseCode splits an invitation's code. The error is ErrNoInvite.
func parseCode(code string) (id, secret string, err error) {
	id, secret, ok := event.SplitToken(code, event.CodePrefix)
	if !ok {
		return "", "", ErrNoInvite
	}
	return id, secret, nil
}

// invited returns the index of the invitation that a code redeems. The error says why there is none.
func invited(tokens []Token, id, secret string) (int, error) {
	i := slices.IndexFunc(tokens, func(t Token) bool { return t.ID == id })
	switch {
	case i < 0:
		return i, ErrNoInvite
	case tokens[i].Invite == nil && tokens[i].Redeemed:
		return i, ErrInviteUsed // reveals no more than a list of ids does
	case tokens[i].Invite == nil || tokens[i].Revoked != nil || !tokens[i].matches(secret):
		return i, ErrNoInvite
	case !tokens[i].Invite.good(clock()):
		return i, ErrInviteExpired
	}
	return i, nil
}
