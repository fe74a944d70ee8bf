package firestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"cloud.google.com/go/firestore"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"touchstone/relay/event"
)

// former is an earlier id of the log. The checksums of blocks up to the event Last cover it.
type former struct {
	Log  string `firestore:"log"`
	Last int64  `firestore:"last"`
}

// writtenUnder returns the id that the log had when the block with this first event was written.
func (s *Store) writtenUnder(first int64) string {
	for _, f := range s.former {
		if first <= f.Last {
			return f.Log
		}
	}
	return s.log
}

// Renew gives the log in a project's database a new id, and returns it. Use it on a database that was restored from a
// backup: a subscriber may have read further than the backup goes, and under the old id its cursor would come to name
// another event. No relay may use the database meanwhile. Damaged events stay damaged.
func Renew(ctx context.Context, project, database string) (log string, err error) {
	return renewWithin(ctx, usual, project, database)
}

func renewWithin(ctx context.Context, limits limits, project, database string) (log string, err error) {
	database = cmp.Or(database, firestore.DefaultDatabaseID)
	client, err := connect(ctx, project, database)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	s := &Store{client: client}
	ctx, cancel := context.WithTimeout(ctx, limits.open)
	defer cancel()
	log = event.NewLogID()
	err = client.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error { return s.renew(tx, log) })
	switch {
	case status.Code(err) == codes.NotFound:
		return "", fmt.Errorf("renew the log's id: Firestore database %s of project %s has no log of a relay: %w", database, project, err)
	case err != nil:
		return "", fmt.Errorf("renew the log's id in Firestore database %s of project %s: %w%s", database, project, err, remedy(err))
	}
	return log, nil
}

func (s *Store) renew(tx *firestore.Transaction, log string) error {
	stored, err := content[meta](tx.Get(s.meta()))
	if err != nil {
		return err
	}
	newest, err := tx.Documents(s.blocks().OrderBy("last", firestore.Desc).Limit(1).Select("last")).GetAll()
	if err != nil {
		return err
	}
	notes, err := tx.Documents(s.client.Collection("relay-notes")).GetAll()
	if err != nil {
		return err
	}
	old := stored.Log
	stored.Log = log
	for _, doc := range newest {
		b, err := blockOf(doc)
		if err != nil {
			return err
		}
		stored.Former = append(stored.Former, former{Log: old, Last: b.Last})
	}
	for _, doc := range notes {
		var n note
		if err := doc.DataTo(&n); err != nil {
			return err
		}
		// Notes name events by their cursors.
		if text := strings.ReplaceAll(n.Text, old+"-", log+"-"); text != n.Text {
			if err := tx.Set(doc.Ref, note{Text: text}); err != nil {
				return err
			}
		}
	}
	return tx.Set(s.meta(), stored)
}
