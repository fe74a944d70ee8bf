package server

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"touchstone/relay/token"
)

const (
	sessionCookie = "touchstone_session"
	sessionNote   = "session-key"
	// linksNote is the note with the redeemed codes, until they expire; at most maxLinks of them.
	linksNote = "links-used"
	maxLinks  = 1000
	// sessionLife is how long a browser stays signed in, linkLife how long a one-time link is valid.
	sessionLife = 30 * 24 * time.Hour
	linkLife    = 10 * time.Minute
	// longestLife is longer than either, by as much as the clocks of a log's relays may differ.
	longestLife = sessionLife + 24*time.Hour
	// maxSealed bounds a cookie or a link's code, in bytes; a token takes 300.
	maxSealed = 1 << 10
)

// sealer encrypts access tokens for browsers: in the cookie of a session, and in a one-time link. Its key and
// the redeemed codes are stored beside the log, where all relays of the log find them. The key alone is not
// enough to make a cookie that is accepted, which takes a valid token; a cookie does not reveal its token
// without the key; and a cookie is worth nothing once its token is revoked.
type sealer struct {
	aead  cipher.AEAD
	notes token.Notebook

	mu sync.Mutex // held while a code is redeemed, in a store that one relay alone writes
}

// sealed is the content of a cookie or a code.
type sealed struct {
	Token   string    `json:"t"`
	Expires time.Time `json:"e"`
}

// Purposes of a sealed token. A token sealed for one is not accepted for the other.
const (
	forSession = "touchstone session"
	forLink    = "touchstone link"
)

// newSealer reads the key beside the log, or creates it.
func newSealer(ctx context.Context, notes token.Notebook) (*sealer, error) {
	text, err := notes.Note(ctx, sessionNote)
	if err == nil && text == "" {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // it cannot fail: https://pkg.go.dev/crypto/rand#Read
		if err = notes.SetNote(ctx, sessionNote, base64.StdEncoding.EncodeToString(key)); err == nil {
			text, err = notes.Note(ctx, sessionNote) // another relay may have made one too
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of the sessions: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(key) != 32 {
		return nil, errors.New("the key of the sessions beside the log is damaged; restore the store from a backup")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &sealer{aead: aead, notes: notes}, err
}

func (s *sealer) seal(token, purpose string, life time.Duration) (string, error) {
	text, err := json.Marshal(sealed{token, time.Now().Add(life).UTC().Truncate(time.Second)})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, []byte(purpose))), nil
}

// open returns what was sealed for a purpose; false if it was sealed for another, has expired or is not
// valid.
func (s *sealer) open(text, purpose string) (what sealed, ok bool) {
	if len(text) > maxSealed {
		return sealed{}, false
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	// Refuse other encodings of the same bytes, such as with a line break: such a code would count as not yet
	// redeemed.
	if err != nil || base64.RawURLEncoding.EncodeToString(data) != text {
		return sealed{}, false
	}
	plain, err := s.aead.Open(nil, nil, data, []byte(purpose))
	if err != nil || json.Unmarshal(plain, &what) != nil {
		return sealed{}, false
	}
	// A longer life than longestLife means that it was sealed when the clock was ahead.
	if left := time.Until(what.Expires); left <= 0 || left > longestLife {
		return sealed{}, false
	}
	return what, true
}

// redeem returns the token of a one-time link's code, once, and otherwise nothing. The error is the store's.
func (s *sealer) redeem(ctx context.Context, code string) (string, error) {
	what, ok := s.open(code, forLink)
	if !ok {
		return "", nil
	}
	sum := sha256.Sum256([]byte(code))
	mark := hex.EncodeToString(sum[:16])
	var again bool
	err := s.change(ctx, func(text string) (string, error) {
		used := map[string]time.Time{}
		if text != "" {
			if err := json.Unmarshal([]byte(text), &used); err != nil {
				return "", fmt.Errorf("read the redeemed links: %w", err)
			}
		}
		if _, again = used[mark]; again {
			return text, nil
		}
		now := time.Now()
		maps.DeleteFunc(used, func(_ string, until time.Time) bool { return now.After(until) })
		if len(used) >= maxLinks {
			return "", fmt.Errorf("%d links were redeemed within %s", maxLinks, linkLife)
		}
		used[mark] = what.Expires
		changed, err := json.Marshal(used)
		return string(changed), err
	})
	if err != nil || again {
		return "", err
	}
	return what.Token, nil
}

// change changes the note with the redeemed codes, one change after the other.
func (s *sealer) change(ctx context.Context, change func(text string) (string, error)) error {
	if shared, ok := s.notes.(token.Shared); ok {
		return shared.ChangeNote(ctx, linksNote, change)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := s.notes.Note(ctx, linksNote)
	if err == nil {
		text, err = change(text)
	}
	if err != nil {
		return err
	}
	return s.notes.SetNote(ctx, linksNote, text)
}

// credential returns a request's token: from its header, or from the cookie of a session. A cookie is ignored
// in a request of another origin's page that changes something.
func (s *Server) credential(r *http.Request) string {
	if text := bearer(r.Header); text != "" || s.sealer == nil {
		return text
	}
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || new(http.CrossOriginProtection).Check(r) != nil {
		return ""
	}
	what, _ := s.sealer.open(cookie.Value, forSession)
	return what.Token
}

// setSession signs a browser in.
func (s *Server) setSession(w http.ResponseWriter, token string) error {
	text, err := s.sealer.seal(token, forSession, sessionLife)
	if err == nil {
		http.SetCookie(w, &http.Cookie{
			Name: sessionCookie, Value: text, Path: "/", MaxAge: int(sessionLife / time.Second), HttpOnly: true, Secure: true,
			SameSite: http.SameSiteStrictMode,
		})
	}
	return err
}

// endSession signs a browser out.
func endSession(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Path: "/", MaxAge: -1, HttpOnly: true, Secure: true,
		SameSite: http.SameSiteStrictMode})
}
