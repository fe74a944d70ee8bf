// Package trust determines whose records an agent trusts. It stores in the state directory: the account
// behind each reviewer's login, the keys with which its records are signed, this machine's own key, and
// people's words that they had no permission to give. It trusts the account and the key that it met first,
// and reports when another one takes their place.
package trust

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"touchstone/agent/forge"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/worktree/atomicfile"
)

// Files in the state directory: the private key, as 64 hexadecimal digits of its seed, the known reviewers,
// and an empty file that is locked while either is changed.
const (
	// KeyFile is the name of the file with the private key.
	KeyFile  = "reviewer.key"
	bookFile = "reviewers.json"
	lockFile = "reviewers.lock"
)

// patience is how long another process may keep the state directory locked, which takes it milliseconds.
const patience = 10 * time.Second

// Book is one machine's knowledge of reviewers. Several goroutines may call its methods at once. A nil Book
// knows nothing, and trusts every record that its login posted and that was not edited.
type Book struct {
	// Settings returns the configured keys, by login, and the time from which unsigned records no longer
	// count, zero for none.
	Settings func() (keys map[string][]string, unsignedUntil time.Time)
	// Now returns the present time by GitHub's clock, like the times of reviews; nil means this machine's
	// clock.
	Now func() time.Time

	path string
	mu   sync.Mutex
	// known is keyed by login in lower case.
	known map[string]Reviewer
}

// Reviewer is what is known about one reviewer.
type Reviewer struct {
	// ID is GitHub's number for the account, or for an App's bot; 0 means unknown.
	ID int64 `json:"id,omitempty"`
	// Key is the public key of the reviewer's records, in hexadecimal digits; empty means unknown. Since is
	// when the key was first met: records from before need not be signed.
	Key   string    `json:"key,omitempty"`
	Since time.Time `json:"since,omitzero"`
}

// Open reads a machine's book from its state directory.
func Open(dir string) (*Book, error) {
	b := &Book{path: filepath.Join(dir, bookFile), known: map[string]Reviewer{}}
	data, err := os.ReadFile(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		b.known, err = parse(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read what is known of reviewers: %w; restore %s, or delete it to record their accounts and keys again", err,
			b.path)
	}
	return b, nil
}

// Key returns this machine's key, which is created at the first call.
func Key(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, KeyFile)
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	failed := func(err error) error { return fmt.Errorf("create this machine's key: %w", err) }
	unlock, err := lock(dir)
	if err != nil {
		return nil, failed(err)
	}
	defer unlock()
	// Another process may have created it meanwhile, such as the agent of the other role. If each kept its own, the
	// records of one of them would never be trusted.
	if key, err = readKey(path); !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if _, key, err = ed25519.GenerateKey(nil); err == nil {
		err = atomicfile.Write(path, []byte(hex.EncodeToString(key.Seed())+"\n"))
	}
	if err != nil {
		return nil, failed(err)
	}
	return key, nil
}

// readKey reads a key from its file.
func readKey(path string) (ed25519.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read this machine's key: %w", err)
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s contains no key; restore it, or delete it to have a new one created, which you then have to list on the "+
			"authors' machines", path)
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// lock keeps other processes from storing anything in a state directory until unlock is called.
func lock(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, patience/500); err != nil {
		return nil, fmt.Errorf("wait for %s: %w", lock.Path(), err)
	}
	return func() { _ = lock.Unlock() }, nil // the file's end releases it too
}

// Public returns the public half of a key in the format of the configuration.
func Public(key ed25519.PrivateKey) string {
	public, _ := key.Public().(ed25519.PublicKey)
	return hex.EncodeToString(public)
}

// Signer signs the records and fixes of a pull request with a key; a nil key leaves them unsigned.
func Signer(key ed25519.PrivateKey, pr forge.PullRequest) verdict.Signer {
	return verdict.Signer{Key: key, Pull: pr.DatabaseID, Clean: forge.Redact}
}

// Account records the account to which a login belongs. It returns an error, a sentence, if the login
// belonged to another account before.
func (b *Book) Account(login string, id int64) error {
	return b.note(login, func(r *Reviewer) error {
		if r.ID != 0 && r.ID != id {
			return taken(login)
		}
		r.ID = id
		return nil
	})
}

func taken(login string) error {
	return fmt.Errorf("the login %s belongs to another account than this machine knows as %s: its account was renamed or deleted, and "+
		"someone else took the login. Check who owns it now, then delete its entry in %s in the state directory", login, login, bookFile)
}

// Hold records a reviewer's key that is certain, such as this machine's own.
func (b *Book) Hold(login, key string) error { return b.hold(login, key) }

// HoldAuthor is Hold for an author's agent.
func (b *Book) HoldAuthor(login, key string) error { return b.hold(authorOf(login), key) }

func (b *Book) hold(name, key string) error {
	return b.note(name, func(r *Reviewer) error {
		if r.Key != key {
			r.Key, r.Since = key, b.now()
		}
		return nil
	})
}

func (b *Book) now() time.Time {
	if b.Now == nil {
		return time.Now().UTC()
	}
	return b.Now().UTC()
}

// Reviewer returns what is known about a login.
func (b *Book) Reviewer(login string) Reviewer {
	if b == nil {
		return Reviewer{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known[strings.ToLower(login)]
}

// note changes what is known about a login, and stores it.
func (b *Book) note(login string, change func(*Reviewer) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := strings.ToLower(login)
	if now := b.known[name]; change(&now) == nil && now == b.known[name] {
		return nil
	}
	failed := func(err error) error { return fmt.Errorf("record what is known of the reviewer %s: %w", login, err) }
	unlock, err := b.refresh()
	if err != nil {
		return failed(err)
	}
	defer unlock()
	before := b.known[name]
	now := before
	if err := change(&now); err != nil || now == before {
		return err
	}
	b.known[name] = now
	data, err := format(b.known)
	if err == nil {
		err = atomicfile.Write(b.path, data)
	}
	if err != nil {
		b.known[name] = before
		return failed(err)
	}
	return nil
}

// refresh takes over what other processes have stored, such as the agent of the other role, and keeps them
// from storing anything until unlock is called. Without a file, what is known stays.
func (b *Book) refresh() (unlock func(), err error) {
	if unlock, err = lock(filepath.Dir(b.path)); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return unlock, nil
	}
	if err == nil {
		var known map[string]Reviewer
		if known, err = parse(data); err == nil {
			b.known = known
			return unlock, nil
		}
	}
	unlock()
	return nil, fmt.Errorf("read %s: %w", b.path, err)
}

// Opinion converts one of a pull request's reviews to the decision's terms, with its record if the record is
// trusted, and the reason if it is not. It does not determine whether the base was rewritten since, or who
// contributed to the change. reviewers are the logins whose records count. It stores nothing: a reviewer that
// this machine has not met is trusted as if Meet had read the same pull request.
func (b *Book) Opinion(pr forge.PullRequest, r forge.SubmittedReview, reviewers []string) decide.Opinion {
	o := decide.Opinion{
		By: r.Author.Login, SHA: r.SHA, State: r.State, Edited: r.EditedAt != nil, At: r.SubmittedAt, Person: r.ByPerson, CanPush: r.CanPush,
	}
	sealed, err := verdict.ParseSealed(r.Body)
	counts := verdict.SameLogin(r.Author.Login, pr.Viewer) || verdict.ListsLogin(reviewers, r.Author.Login)
	switch {
	case err != nil && counts && verdict.Sealing(r.Body):
		o.Doubt = "its record cannot be read"
	case err != nil:
	case b == nil || !counts:
		o.Record = &sealed.Record
	default:
		if o.Doubt = b.doubt(pr, r, sealed); o.Doubt == "" {
			o.Record = &sealed.Record
		}
	}
	return o
}

// Meet records the accounts and keys of reviewers whose signed records are met here for the first time. Its
// error says that a key cannot be stored, which says nothing about the reviews.
func (b *Book) Meet(pr forge.PullRequest, reviewers []string) error {
	if b == nil {
		return nil
	}
	for _, r := range pr.Reviews {
		login := r.Author.Login
		if !verdict.SameLogin(login, pr.Viewer) && !verdict.ListsLogin(reviewers, login) {
			continue
		}
		met := b.met(pr, login)
		if err := b.note(login, func(known *Reviewer) error {
			if known.Key == "" && (known.ID == 0 || known.ID == met.ID) {
				*known = met
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// met returns what is known of a login once a pull request was read: what is stored, or else what the login's
// first record there says that is signed for this pull request and was not edited.
func (b *Book) met(pr forge.PullRequest, login string) Reviewer {
	known := b.Reviewer(login)
	if listed, _ := b.settings(login); known.Key != "" || len(listed) > 0 {
		return known
	}
	for _, r := range pr.Reviews {
		if !verdict.SameLogin(r.Author.Login, login) || !r.CanPush || r.EditedAt != nil || known.ID != 0 && r.Author.ID != known.ID {
			continue
		}
		if s, err := verdict.ParseSealed(r.Body); err == nil && s.Key != nil && s.SignedFor(pr.DatabaseID) {
			return Reviewer{ID: r.Author.ID, Key: hex.EncodeToString(s.Key), Since: r.SubmittedAt}
		}
	}
	return known
}

// Record returns the record of a review by the token's own login, if it is trusted.
func (b *Book) Record(pr forge.PullRequest, r forge.SubmittedReview) (verdict.Record, bool) {
	o := b.Opinion(pr, r, nil)
	if o.Record == nil {
		return verdict.Record{}, false
	}
	return *o.Record, true
}

// settings returns the configured keys of a login, and until when unsigned records count.
func (b *Book) settings(login string) (listed []string, unsignedUntil time.Time) {
	if b.Settings == nil {
		return nil, time.Time{}
	}
	keys, unsignedUntil := b.Settings()
	for name, list := range keys {
		if verdict.SameLogin(name, login) {
			listed = list
		}
	}
	return listed, unsignedUntil
}

// doubt returns why a record is not trusted, as part of a sentence; "" if it is.
func (b *Book) doubt(pr forge.PullRequest, r forge.SubmittedReview, s verdict.Sealed) string {
	login := r.Author.Login
	known := b.met(pr, login)
	listed, unsignedUntil := b.settings(login)
	switch {
	case known.ID != 0 && r.Author.ID != known.ID:
		return "the login " + login + " now belongs to another account"
	case !r.CanPush:
		return login + " may not push to the repository"
	case s.Key == nil && !unsignedUntil.IsZero():
		if r.SubmittedAt.Before(unsignedUntil) {
			return ""
		}
		return "its record is not signed, and unsigned_until in the agent's configuration is over"
	case s.Key == nil && (len(listed) > 0 || known.Key != "" && r.SubmittedAt.After(known.Since)):
		return "its record is not signed, but its reviewer's other records are"
	case s.Key == nil:
		return ""
	case !s.SignedFor(pr.DatabaseID):
		return "its record was changed after it was signed, or belongs to another pull request"
	}
	key := hex.EncodeToString(s.Key)
	own := verdict.SameLogin(login, pr.Viewer) && known.Key == key
	switch {
	case own || slices.ContainsFunc(listed, func(k string) bool { return strings.EqualFold(k, key) }):
		return ""
	case len(listed) == 0 && known.Key == key:
		return ""
	case len(listed) == 0 && known.Key == "":
		return "it was edited after it was posted, and no key of its reviewer is known yet"
	}
	return fmt.Sprintf("its record is signed with the key %s, which this machine does not know as one of %s's; if it is, list all keys of "+
		"that login under `keys` in the agent's configuration", key, login)
}
