package sqlite

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// Bounds of the write-ahead log before it is copied into the file.
const (
	// checkpointBytes is how many bytes of payloads and notes are written between two checkpoints: enough
	// that their cost does not show, and little to read again after a crash.
	checkpointBytes = 16 << 20
	// maxLogPages is the size at which SQLite makes an append run the checkpoint: when trims alone have
	// filled the log, or the checkpoints do not succeed.
	maxLogPages = 64 << 20 / 4096
)

// checkpoints copies the write-ahead log into the file while most appends go on. SQLite itself would make
// every 450th append of 8 kB do that, and wait for the disk twice more.
type checkpoints struct {
	bytes  atomic.Int64 // written since the last checkpoint was requested
	due    chan struct{}
	cancel context.CancelFunc
	ended  chan struct{}
}

func (c *checkpoints) start(ctx context.Context, s *Store) {
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.due, c.ended = make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(c.ended)
		look := time.NewTicker(lookInterval)
		defer look.Stop()
		var lost error
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
				lost = s.look(ctx, lost)
				continue
			case <-c.due:
			}
			if err := s.checkpoint(ctx); err != nil && ctx.Err() == nil {
				zerolog.Ctx(ctx).Warn().Err(err).Msg("cannot copy the store's write-ahead log into its file; trying again once it has grown")
			}
		}
	}()
}

// lookInterval is how soon the log says that a file is gone, even if nothing is appended.
const lookInterval = time.Second

// look logs once that a file is gone or another one is in its place, and once that it is back.
func (s *Store) look(ctx context.Context, before error) error {
	err := s.files.check()
	switch log := zerolog.Ctx(ctx); {
	case err != nil && (before == nil || before.Error() != err.Error()):
		log.Error().Err(err).Msg("the store's files are gone or replaced; refusing webhooks")
	case err == nil && before != nil:
		log.Info().Msg("the store's files are back")
	}
	return err
}

// wrote counts the bytes of an append or a note, and requests a checkpoint when it is due.
func (c *checkpoints) wrote(size int) {
	if c.bytes.Add(int64(size)) < checkpointBytes {
		return
	}
	c.bytes.Store(0)
	select {
	case c.due <- struct{}{}:
	default: // it is due already
	}
}

// stop waits for a running checkpoint.
func (c *checkpoints) stop() {
	if c.cancel == nil {
		return // it was never started
	}
	c.cancel()
	<-c.ended
}

// checkpoint first copies what is in the log while appends go on, then the little that they have added while
// they wait. SQLite restarts the log only when nothing is left to copy
// (https://www.sqlite.org/wal.html#checkpointing).
func (s *Store) checkpoint(ctx context.Context) error {
	if err := s.files.check(); err != nil {
		return err // another relay may write to the file by now
	}
	const passive = "PRAGMA wal_checkpoint(PASSIVE)"
	if _, err := s.db.Reader.ExecContext(ctx, passive); err != nil {
		return err
	}
	_, err := s.db.Writer.ExecContext(ctx, passive)
	return err
}
