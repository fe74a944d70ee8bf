package firestore

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"cloud.google.com/go/firestore"

	"touchstone/relay/event"
)

// maxBlockBytes bounds the uncompressed size of a block's events: the hub's largest append, and headroom.
const maxBlockBytes = 64 << 20

// block is a document of relay-log: the events of one append.
type block struct {
	// Last is the number of the newest event; the document's name has the number of the oldest.
	Last int64 `firestore:"last"`
	// Writer is random and distinguishes this block from any other with the same first event.
	Writer string `firestore:"writer"`
	// IDs are the events' delivery keys, in order. If any event is SignedOnce, as many signature keys follow;
	// those of other events are empty.
	IDs []string `firestore:"ids"`
	// Received is when the newest event was received, in milliseconds since 1970, by the clock of the relay
	// that received it. Relays before version 0.2 use it.
	Received int64 `firestore:"received"`
	// Data holds the events as encode writes them, unless there are chunks.
	Data []byte `firestore:"data"`
	// Chunks is how many documents of relay-chunks hold the events instead.
	Chunks int `firestore:"chunks"`
	// Sum is the checksum of all this except Received and Emptied; zero in the blocks of older relays.
	Sum int64 `firestore:"sum,omitempty"`
	// Emptied says that retention has removed the events, and only their keys are left.
	Emptied bool `firestore:"emptied,omitempty"`

	// age is how old the document was when it was read, by Firestore's clock, which all relays share.
	age time.Duration
}

func blockOf(doc *firestore.DocumentSnapshot) (b block, err error) {
	err = doc.DataTo(&b)
	b.age = doc.ReadTime.Sub(doc.CreateTime)
	return b, err
}

// castagnoli is the polynomial that processors compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns what Sum has to be, for a block of a log with all of its data; it is never zero.
func (b block) checksum(log string, first int64, data []byte) int64 {
	head := binary.AppendVarint([]byte(log), first)
	head = binary.AppendVarint(head, b.Last)
	for _, id := range append([]string{b.Writer}, b.IDs...) {
		head = append(binary.AppendUvarint(head, uint64(len(id))), id...)
	}
	return 1<<32 | int64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data))
}

// keys returns the delivery keys and signature keys of the events, each with its event's number.
func (b block) keys() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		first := b.Last - int64(b.count()) + 1
		for i, key := range b.IDs {
			if key != "" && !yield(key, first+int64(i%b.count())) {
				return
			}
		}
	}
}

// count returns how many events the block was created with.
func (b block) count() int {
	isSignature := func(key string) bool { return key == "" || strings.HasPrefix(key, signaturePrefix) }
	if n := slices.IndexFunc(b.IDs, isSignature); n >= 0 {
		return n
	}
	return len(b.IDs)
}

// chunk is a document of relay-chunks.
type chunk struct {
	Data []byte `firestore:"data"`
}

// name returns the name of a block's document: the first event's number in digits, so that names sort like
// numbers.
func name(first int64) string { return fmt.Sprintf("%016d", first) }

// key returns the key of a delivery. It is a hash, because a hash has a fixed length and accepts any bytes.
func key(source, delivery string) string {
	sum := sha256.Sum256([]byte(source + "\x00" + delivery))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// signaturePrefix begins the keys of signatures, and no others.
const signaturePrefix = "s:"

// signatureKey returns the key of the signature of a SignedOnce event; for other events it is empty.
func signatureKey(e event.Event) string {
	if !e.SignedOnce {
		return ""
	}
	return signaturePrefix + key(e.Source, e.Signature)
}

// stored is what an envelope in a block has in addition to the event's own fields.
type stored struct {
	Signature string `json:"signature"`
}

// envelope returns an event as a block stores it, without the payload.
func envelope(e event.Event) ([]byte, error) {
	e.ID, e.Payload, e.JSON = event.Cursor{}, nil, false
	text, err := json.Marshal(e)
	if err != nil || e.Signature == "" {
		return text, err
	}
	more, err := json.Marshal(stored{e.Signature})
	return append(append(text[:len(text)-1], ','), more[1:]...), err
}

// encode writes events as gzip. Each event is its envelope without the payload, then the payload, each
// preceded by its length.
func encode(events []event.Event) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		envelope, err := envelope(e)
		if err != nil {
			return nil, err
		}
		for _, part := range [][]byte{envelope, e.Payload} {
			if _, err := compressed.Write(binary.AppendUvarint(nil, uint64(len(part)))); err != nil {
				return nil, err
			}
			if _, err := compressed.Write(part); err != nil {
				return nil, err
			}
		}
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// decode reads what encode wrote, and numbers the events from first on.
func decode(data []byte, log string, first int64) ([]event.Event, error) {
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(compressed, maxBlockBytes+1))
	if err != nil {
		return nil, err
	}
	if len(plain) > maxBlockBytes {
		return nil, errors.New("the block is larger than a relay writes")
	}
	var events []event.Event
	for len(plain) > 0 {
		var envelope, payload []byte
		if envelope, plain, err = cut(plain); err != nil {
			return nil, err
		}
		if payload, plain, err = cut(plain); err != nil {
			return nil, err
		}
		var e event.Event
		if err := json.Unmarshal(envelope, &e); err != nil {
			return nil, err
		}
		var more stored
		if err := json.Unmarshal(envelope, &more); err != nil {
			return nil, err
		}
		if e.Signature = more.Signature; e.Signature == "" {
			e.SplitSignature()
		}
		e.ID = event.Cursor{Log: log, Seq: first + int64(len(events))}
		e.Payload = payload
		events = append(events, e)
	}
	return events, nil
}

// cut takes one part, with its length, off the front.
func cut(plain []byte) (part, rest []byte, err error) {
	length, n := binary.Uvarint(plain)
	if n <= 0 || length > uint64(len(plain)-n) {
		return nil, nil, errors.New("the block ends in the middle of an event")
	}
	end := n + int(length)
	return plain[n:end:end], plain[end:], nil
}
