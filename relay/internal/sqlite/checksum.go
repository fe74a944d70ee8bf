package sqlite

import (
	"database/sql"
	"encoding/binary"
	"hash/crc32"

	"touchstone/relay/event"
)

// castagnoli is the polynomial that processors compute in hardware: half a microsecond for 8 kB. It finds
// accidental damage to a file. An attacker who can write to the file could recompute any checksum; the
// senders' signatures reveal that.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// summer computes checksums of events, one after the other, in one buffer.
type summer struct{ buffer []byte }

// event returns the checksum of everything that is stored of an event: its position in the log, and every
// column as it is written.
func (s *summer) event(e event.Event, headers string, content sql.NullInt64) int64 {
	s.buffer = s.buffer[:0]
	if content.Valid {
		s.buffer = append(s.buffer, 1)
	}
	if e.JSON {
		s.buffer = append(s.buffer, 2)
	}
	for _, n := range []int64{e.ID.Seq, int64(e.Number), e.ReceivedAt.UnixMilli(), content.Int64} {
		s.buffer = binary.AppendVarint(s.buffer, n)
	}
	for _, text := range []string{e.ID.Log, e.Source, e.Delivery, e.Type, e.Action, e.Repo, e.Sender, headers, e.Signature} {
		s.buffer = append(binary.AppendUvarint(s.buffer, uint64(len(text))), text...)
	}
	return int64(crc32.Update(crc32.Checksum(s.buffer, castagnoli), castagnoli, e.Payload))
}

// boundsSum returns the checksum of the log's id and its floor.
func boundsSum(log string, floor int64) int64 {
	return int64(crc32.Checksum(binary.AppendVarint([]byte(log), floor), castagnoli))
}
