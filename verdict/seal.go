package verdict

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"touchstone/worktree/lazyregexp"
)

// Signer signs the records of one pull request. The zero value leaves them unsigned, as in earlier versions.
type Signer struct {
	// Key is the reviewer's key.
	Key ed25519.PrivateKey
	// Pull is GitHub's global id of the pull request, which stays the same when the repository is renamed. A
	// record that was copied to another pull request has no valid signature there.
	Pull int64
	// Clean, if set, removes from a text what must not leave this machine. It gets each text of the record by
	// itself, and before signing, since it would break the signature.
	Clean func(string) string
}

// sign is the line of a record in JSON, without its end.
func (s Signer) sign(data string) string {
	data = s.cleaned(data)
	if len(s.Key) == 0 {
		return unsignedOpen + data
	}
	signature := ed25519.Sign(s.Key, signed(s.Pull, data))
	public, _ := s.Key.Public().(ed25519.PublicKey)
	return signedOpen + data + " " + hex.EncodeToString(public) + " " + hex.EncodeToString(signature)
}

// jsonText matches a text in JSON, with its quotation marks.
var jsonText = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)

// cleaned is a record in JSON without what must not leave this machine. Each text is cleaned as people wrote
// it: in the whole record, JSON's own characters could pass for a part of a secret, and escapes could hide one.
func (s Signer) cleaned(data string) string {
	if s.Clean == nil {
		return data
	}
	return jsonText.ReplaceAllStringFunc(data, func(quoted string) string {
		var text string
		if json.Unmarshal([]byte(quoted), &text) != nil {
			return quoted
		}
		clean := s.Clean(text)
		if clean == text {
			return quoted
		}
		again, err := json.Marshal(clean)
		if err != nil {
			return `""`
		}
		return withoutMentions(string(again))
	})
}

// withoutMentions escapes the at signs in JSON, where they can only be inside a text.
func withoutMentions(data string) string { return strings.ReplaceAll(data, "@", `\u0040`) }

// signed are the bytes that the signature covers.
func signed(pull int64, data string) []byte {
	return fmt.Appendf(nil, "touchstone:state v2 %d %s", pull, data)
}

// Sealed is a record as a review carries it. Nothing yet proves that an agent wrote it.
type Sealed struct {
	Record
	// Key is the public key in the record, nil if it is unsigned.
	Key ed25519.PublicKey

	signature []byte
	data      string
}

// SignedFor reports whether the record was signed with its key for a pull request, numbered as in
// [Signer.Pull], and was not changed since.
func (s Sealed) SignedFor(pull int64) bool {
	return len(s.Key) == ed25519.PublicKeySize && ed25519.Verify(s.Key, signed(pull, s.data), s.signature)
}

// ParseSealed reads the record from a posted review's body. Like the marker, the record counts only at the
// very end, so quoted text cannot replace it. Marker and record must agree. The caller must check who posted
// the review and whose key it is.
func ParseSealed(body string) (Sealed, error) {
	rest, marker := cutLastLine(body)
	_, line := cutLastLine(rest)
	s, ok := Sealed{}, false
	if s.data, ok = strings.CutSuffix(line, recordClose); !ok || len(line) > maxSeal {
		return Sealed{}, ErrNoRecord
	}
	if data, ok := strings.CutPrefix(s.data, unsignedOpen); ok {
		s.data = data
	} else if data, ok := strings.CutPrefix(s.data, signedOpen); ok {
		if err := s.readSignature(data); err != nil {
			return Sealed{}, err
		}
	} else {
		return Sealed{}, ErrNoRecord
	}
	if err := json.Unmarshal([]byte(s.data), &s.Record); err != nil {
		return Sealed{}, fmt.Errorf("%w: %v", ErrNoRecord, err)
	}
	r := s.Record
	if !r.Verdict.valid() || marker != Marker(r.Verdict) || r.Verdict == Approve && len(r.Holds) > 0 && r.Lifted == nil {
		return Sealed{}, fmt.Errorf("%w: its marker and its record disagree", ErrNoRecord)
	}
	return s, nil
}

// readSignature reads the record's JSON, the key and the signature.
func (s *Sealed) readSignature(line string) (err error) {
	rest, signature := cutLast(line, " ")
	data, key := cutLast(rest, " ")
	if s.Key, err = hex.DecodeString(key); err == nil {
		s.signature, err = hex.DecodeString(signature)
	}
	if err != nil || len(s.Key) != ed25519.PublicKeySize || len(s.signature) != ed25519.SignatureSize {
		return fmt.Errorf("%w: its signature cannot be read", ErrNoRecord)
	}
	s.data = data
	return nil
}

// cutLast is strings.Cut around the last occurrence of a separator.
func cutLast(s, sep string) (before, after string) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):]
	}
	return s, ""
}

// Sealing reports whether a text contains something that looks like a record, in its place or elsewhere.
func Sealing(body string) bool { return strings.Contains(body, recordOpen) }

// WithoutRecord returns the part of a review's body that is for people: what comes before the record.
func WithoutRecord(body string) string {
	text, _, _ := strings.Cut(body, recordOpen)
	return strings.TrimSpace(text)
}
