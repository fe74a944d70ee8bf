package firestore

import (
	"context"
	"fmt"

	"cloud.google.com/go/firestore"
)

// inspectBlocks is how many blocks Inspect reads at a time.
const inspectBlocks = 1000

// Inspect implements hub.Store. Firestore maintains its indexes itself, so Inspect only counts the events of
// blocks without a checksum.
func (s *Store) Inspect(ctx context.Context, _ func(problem string)) (unchecked int64, err error) {
	_, at := s.ends()
	for {
		docs, err := s.blocks().Where("last", ">", at).OrderBy("last", firestore.Asc).Limit(inspectBlocks).
			Select("last", "ids", "sum").Documents(ctx).GetAll()
		if err != nil {
			return 0, fmt.Errorf("inspect the log: %w", err)
		}
		for _, doc := range docs {
			b, err := blockOf(doc)
			if err != nil {
				return 0, fmt.Errorf("inspect block %s: %w", doc.Ref.ID, err)
			}
			if at = b.Last; b.Sum == 0 {
				unchecked += int64(b.count())
			}
		}
		if len(docs) < inspectBlocks {
			return unchecked, nil
		}
	}
}
