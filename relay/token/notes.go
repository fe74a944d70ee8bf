package token

import (
	"context"
	"fmt"
)

// noteName is the note that holds the tokens, and usesName the note that holds their times of use.
const (
	noteName = "access-tokens"
	usesName = "access-tokens-used"
)

// Notebook keeps small texts beside a log that several relays share.
type Notebook interface {
	// Note returns the text under a name; empty for none.
	Note(ctx context.Context, name string) (string, error)
	// SetNote stores a text and returns once it is durable.
	SetNote(ctx context.Context, name, text string) error
}

// Shared is a Notebook that several relays write at the same time.
type Shared interface {
	Notebook
	// ChangeNote replaces a note by what change makes of it and returns once that is durable. No other write
	// comes between. It may call change several times, and its error is that of the last call.
	ChangeNote(ctx context.Context, name string, change func(text string) (string, error)) error
}

// Notes keeps tokens in a note, for relays that share a log.
type Notes struct {
	// Notebook is the log's store.
	Notebook Shared
}

// Load implements Store.
func (n Notes) Load(ctx context.Context) ([]Token, error) {
	text, err := n.Notebook.Note(ctx, noteName)
	if err != nil {
		return nil, fmt.Errorf("read access tokens: %w", err)
	}
	return noted(text)
}

// noted returns the tokens in a note.
func noted(text string) ([]Token, error) {
	if text == "" {
		return nil, nil
	}
	tokens, err := decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("read access tokens: %w", err)
	}
	return tokens, nil
}

// Update implements Store.
func (n Notes) Update(ctx context.Context, change func([]Token) ([]Token, error)) error {
	return n.Notebook.ChangeNote(ctx, noteName, func(text string) (string, error) {
		tokens, err := noted(text)
		if err != nil {
			return "", err
		}
		if tokens, err = change(tokens); err != nil {
			return "", err
		}
		changed, err := encode(tokens)
		if err != nil {
			return "", fmt.Errorf("write access tokens: %w", err)
		}
		return string(changed), nil
	})
}

// Uses implements Store.
func (n Notes) Uses(ctx context.Context) (Uses, error) {
	text, err := n.Notebook.Note(ctx, usesName)
	if err != nil {
		return nil, err
	}
	return decodeUses([]byte(text)), nil
}

// SetUses implements Store.
func (n Notes) SetUses(ctx context.Context, uses Uses) error {
	text, err := encodeUses(uses)
	if err != nil {
		return err
	}
	return n.Notebook.SetNote(ctx, usesName, string(text))
}
