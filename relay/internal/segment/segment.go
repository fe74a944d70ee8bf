// Package segment compresses each piece of a gzip stream once for all the streams that send it. A segment is
// a run of DEFLATE blocks that refers to nothing before it and ends on a byte boundary with a sync flush, so
// that it can be decoded on its own. A stream is one gzip header, any number of segments, and a trailer.
// Separate gzip members would be simpler, but curl and Chromium stop reading after the first. The package
// owns no state.
package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"github.com/klauspost/compress/flate"
)

// Header begins a gzip stream: DEFLATE, no name, no time, any system
// (https://www.rfc-editor.org/rfc/rfc1952#section-2.3).
var Header = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}

// syncFlush is an empty stored block, after which a decoder returns everything it has. An empty block with
// the first bit set ends the stream (https://www.rfc-editor.org/rfc/rfc1951#section-3.2.4).
var (
	syncFlush = []byte{0, 0, 0, 0xff, 0xff}
	lastBlock = []byte{1, 0, 0, 0xff, 0xff}
)

// Segment is a compressed piece. It never changes, so any number of streams may send it at once.
type Segment struct {
	// Bytes are the bytes to send.
	Bytes []byte

	crc    uint32 // of what was compressed
	length uint32 // of what was compressed, modulo 2^32
	shift  uint32 // x^(8*length) modulo the CRC's polynomial
}

// writers are reused because each takes far more memory than most events do.
var writers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		panic(fmt.Sprintf("flate refuses its own default level: %v", err))
	}
	return w
}}

// Compress returns a segment of plain.
func Compress(plain []byte) (Segment, error) {
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	out := bytes.NewBuffer(make([]byte, 0, len(plain)/4+64))
	w.Reset(out)
	if _, err := w.Write(plain); err != nil {
		return Segment{}, fmt.Errorf("compress: %w", err)
	}
	if err := w.Flush(); err != nil {
		return Segment{}, fmt.Errorf("compress: %w", err)
	}
	return describe(out.Bytes(), plain), nil
}

// Store returns a segment of a few bytes, at most 65,535, that compression would only make longer.
func Store(plain []byte) Segment {
	if len(plain) > math.MaxUint16 {
		panic(fmt.Sprintf("segment: %d bytes do not fit one stored block", len(plain)))
	}
	length := uint16(len(plain))
	out := []byte{0}
	out = binary.LittleEndian.AppendUint16(out, length)
	out = binary.LittleEndian.AppendUint16(out, ^length)
	out = append(out, plain...)
	return describe(append(out, syncFlush...), plain)
}

func describe(compressed, plain []byte) Segment {
	return Segment{
		Bytes:  compressed,
		crc:    crc32.ChecksumIEEE(plain),
		length: uint32(len(plain)),
		shift:  power(uint64(len(plain)) * 8),
	}
}

// Sum is the checksum of a stream's segments so far. The zero Sum is that of no segments.
type Sum struct{ crc, length uint32 }

// Add adds a segment that was sent. It does not need the plain bytes: the CRC of a followed by b is the CRC
// of a, moved past b's bits, plus the CRC of b.
func (s *Sum) Add(sent Segment) {
	s.crc = multiply(s.crc, sent.shift) ^ sent.crc
	s.length += sent.length
}

// Trailer returns the bytes that end the stream.
func (s *Sum) Trailer() []byte {
	out := binary.LittleEndian.AppendUint32(bytes.Clone(lastBlock), s.crc)
	return binary.LittleEndian.AppendUint32(out, s.length)
}

// Polynomials over GF(2) modulo the CRC's polynomial, as crc32 writes them: the highest bit is 1, the next
// one x.
const (
	one = 1 << 31
	x   = 1 << 30
)

// multiply multiplies two polynomials.
func multiply(a, b uint32) uint32 {
	var product uint32
	for ; a != 0; a <<= 1 {
		product ^= b & -(a >> 31)
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return product
}

// power returns x to the nth.
func power(n uint64) uint32 {
	result, square := uint32(one), uint32(x)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result = multiply(result, square)
		}
		square = multiply(square, square)
	}
	return result
}
