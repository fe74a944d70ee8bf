package token

import (
	"context"
	"errors"
	"fmt"
)

// noteName is the note that holds the tokens, and usesName the one with their uses.
const (
	noteName = "access-tokens"
	usesName = "access-tokens-used"
)

// Notebook keeps small texts beside a log that several relays share.
type Notebook interface {
	// Note returns the text under a name; empty for none.
	Note(ctx context.Context, name string) (string, error)
	// SetNote returns once the text is durable.
	SetNote(ctx context.Context, name, text string) error
}

// Notes keeps tokens in a note, for relays that share a log.
type Notes struct {
	// Notebook is the log's store.
	Notebook Notebook
}

// Load implements Store.
func (n Notes) Load(ctx context.Context) ([]Token, error) {
	text, err := n.Notebook.Note(ctx, noteName)
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	if text == "" {
		return nil, nil
	}
	tokens, err := decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	return tokens, nil
}

// Update implements Store. Notes have no lock: of two changes at the same moment one
// can be lost, so Update looks again and says when it was this one.
func (n Notes) Update(ctx context.Context, change func([]Token) ([]Token, error)) error {
	tokens, err := n.Load(ctx)
	if err != nil {
		return err
	}
	if tokens, err = change(tokens); err != nil {
		return err
	}
	text, err := encode(tokens)
	if err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	if err := n.Notebook.SetNote(ctx, noteName, string(text)); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	kept, err := n.Notebook.Note(ctx, noteName)
	if err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	if kept != string(text) {
		return errors.New("somebody else has changed the tokens at the same moment; look with touchstone-relay token list, and do it again")
	}
	return nil
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
