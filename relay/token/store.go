package token

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"touchstone/relay/event"
)

// Bounds of what a relay keeps.
const (
	// maxTokens is how many tokens a relay keeps at most, including revoked ones.
	maxTokens = 1000
	// maxStoredBytes is far above the size of that many tokens.
	maxStoredBytes = 4 << 20
)

// Store keeps the tokens of one relay where its other processes find them.
type Store interface {
	// Load returns all tokens, including revoked ones; having none is no error.
	Load(ctx context.Context) ([]Token, error)
	// Update replaces the tokens by what change makes of them. Nothing happens if change returns an error.
	Update(ctx context.Context, change func([]Token) ([]Token, error)) error
	// Uses returns when tokens were last used, by their ids, as far as that is known.
	Uses(ctx context.Context) (Uses, error)
	// SetUses replaces what Uses returns.
	SetUses(ctx context.Context, uses Uses) error
}

// Add stores new tokens, all or none. Names are unique among valid tokens. It revokes an invitation of the same name that
// has expired unused.
func Add(ctx context.Context, store Store, made ...Token) error {
	return store.Update(ctx, func(tokens []Token) ([]Token, error) {
		for _, t := range made {
			for i, u := range tokens {
				switch now := clock(); {
				case u.Name != t.Name || u.Revoked != nil:
				case u.Invite != nil && now.After(u.Invite.Expires):
					tokens[i].Revoked = &now
				default:
					return nil, fmt.Errorf("an access token named %s already exists; revoke it first, or choose another name", t.Name)
				}
			}
			// The oldest revoked tokens make room, except for the last one.
			for len(tokens) >= maxTokens {
				i := slices.IndexFunc(tokens, func(u Token) bool { return u.Revoked != nil })
				if i < 0 {
					return nil, fmt.Errorf("the relay has %d access tokens, the most it can store; revoke some", maxTokens)
				}
				tokens = slices.Delete(tokens, i, i+1)
			}
			tokens = append(tokens, t)
		}
		return tokens, nil
	})
}

// Revoke ends a token and returns it. Running relays notice within seconds.
func Revoke(ctx context.Context, store Store, id string) (Token, error) {
	var revoked Token
	err := store.Update(ctx, func(tokens []Token) ([]Token, error) {
		i := slices.IndexFunc(tokens, func(t Token) bool { return t.ID == id })
		if i < 0 {
			return nil, errors.New("access token not found; touchstone-relay token list shows their ids")
		}
		if tokens[i].Revoked != nil {
			return nil, fmt.Errorf("access token %s was revoked on %s", id, tokens[i].Revoked.Format(time.DateTime))
		}
		now := time.Now().UTC().Truncate(time.Second)
		tokens[i].Revoked = &now
		revoked = tokens[i]
		return tokens, nil
	})
	return revoked, err
}

// content is the stored form.
type content struct {
	Tokens []Token `json:"tokens"`
}

func encode(tokens []Token) ([]byte, error) {
	text, err := json.MarshalIndent(content{tokens}, "", "  ")
	return append(text, '\n'), err
}

// decode reads what encode wrote. An unknown field is an error, because it might narrow what a token allows.
func decode(text []byte) ([]Token, error) {
	if len(text) > maxStoredBytes {
		return nil, fmt.Errorf("the access tokens exceed %d bytes", maxStoredBytes)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var c content
	if err := decoder.Decode(&c); err != nil {
		return nil, fmt.Errorf("not in the format of touchstone-relay token create: %w", err)
	}
	if decoder.More() {
		return nil, errors.New("not in the format of touchstone-relay token create: extra data at the end")
	}
	seen := map[string]bool{}
	for _, t := range c.Tokens {
		if !event.ValidTokenID(t.ID) {
			return nil, errors.New("an access token's id is not in the format of touchstone-relay token create")
		}
		if err := t.validate(); err != nil {
			return nil, fmt.Errorf("access token %s: %w", t.ID, err)
		}
		if seen[t.ID] {
			return nil, fmt.Errorf("two access tokens have the id %s", t.ID)
		}
		seen[t.ID] = true
	}
	return c.Tokens, nil
}
