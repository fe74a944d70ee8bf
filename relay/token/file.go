package token

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"touchstone/worktree/atomicfile"

	"github.com/gofrs/flock"
)

// File keeps tokens in a JSON file, for a relay on one machine. Writers take a lock on "<file>.lock". The
// file itself is replaced as a whole, so readers need no lock. The times of use are in "<file>.used", which
// only the relay writes.
type File struct {
	// Path is where the file is, or will be.
	Path string
}

// Load implements Store. A missing file holds no tokens.
func (f File) Load(context.Context) ([]Token, error) {
	text, err := read(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read access tokens: %w", err)
	}
	tokens, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("read access tokens in %s: %w", f.Path, err)
	}
	return tokens, nil
}

// Update implements Store.
func (f File) Update(ctx context.Context, change func([]Token) ([]Token, error)) (err error) {
	lock := flock.New(f.Path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return fmt.Errorf("lock access tokens: %w (the directory must exist and be writable)", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := own(lock.Path()); err != nil {
		return fmt.Errorf("lock access tokens: %w", err)
	}
	tokens, err := f.Load(ctx)
	if err != nil {
		return err
	}
	if tokens, err = change(tokens); err != nil {
		return err
	}
	text, err := encode(tokens)
	if err == nil {
		err = errors.Join(atomicfile.Write(f.Path, text), own(f.Path))
	}
	if err != nil {
		return fmt.Errorf("write access tokens: %w", err)
	}
	return nil
}

func (f File) usesPath() string { return f.Path + ".used" }

// Uses implements Store.
func (f File) Uses(context.Context) (Uses, error) {
	text, err := read(f.usesPath())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return decodeUses(text), nil
}

// SetUses implements Store.
func (f File) SetUses(_ context.Context, uses Uses) error {
	text, err := encodeUses(uses)
	if err != nil {
		return err
	}
	return atomicfile.Write(f.usesPath(), text)
}

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxStoredBytes+1))
}
