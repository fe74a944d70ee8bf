package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
)

// Partial says which mirrors hold the content of files only where it was needed: of the
// commits that were checked out or compared. What is lacking is fetched on the way, with
// the credentials of the request. See https://git-scm.com/docs/partial-clone.
type Partial string

const (
	// PartialAuto, or "", is for repositories whose download exceeds 512 MiB.
	PartialAuto Partial = "auto"
	// PartialOn is for all repositories whose server offers it.
	PartialOn Partial = "on"
	// PartialOff is for none.
	PartialOff Partial = "off"
)

const (
	// largeMirror is the size of a download, in bytes, beyond which it begins anew
	// without the content of files.
	largeMirror = 512 << 20
	// measurePoll is how often a download is measured.
	measurePoll = 200 * time.Millisecond
)

// errUnfiltered says that the server sent everything instead.
var errUnfiltered = errors.New("the server does not offer partial clones")

// fetchPartly fills an empty mirror with everything but the content of files; with that
// too if the server knows no other way.
func (r repo) fetchPartly(ctx context.Context, remote Remote, refspecs []string) error {
	if err := r.begin(); err != nil {
		return err
	}
	if err := r.SetPartial(true); err != nil {
		return err
	}
	err := r.fetch(ctx, remote, refspecs...)
	if errors.Is(err, errUnfiltered) {
		zerolog.Ctx(ctx).Info().Err(err).Msg("the repository is downloaded whole")
		return r.SetPartial(false)
	}
	return err
}

// fetchWhole fills an empty mirror. ErrTooLarge when it gets larger than a whole mirror
// should be; nothing tells beforehand.
func (s *Store) fetchWhole(ctx context.Context, r repo, remote Remote, refspecs []string) error {
	if err := r.begin(); err != nil {
		return err
	}
	if s.Partial == PartialOff {
		return r.fetch(ctx, remote, refspecs...)
	}
	limit := int64(largeMirror)
	if s.large > 0 {
		limit = s.large
	}
	fetching, stop := context.WithCancelCause(ctx)
	measured := make(chan struct{})
	go func() {
		defer close(measured)
		watchSize(fetching, filepath.Join(r.Mirror, "objects"), limit, stop)
	}()
	err := r.fetch(fetching, remote, refspecs...)
	stop(nil)
	<-measured
	if cause := context.Cause(fetching); errors.Is(cause, ErrTooLarge) && err != nil {
		return cause
	}
	return err
}

// watchSize stops a download once a directory holds more than limit bytes.
func watchSize(ctx context.Context, dir string, limit int64, stop context.CancelCauseFunc) {
	tick := time.NewTicker(measurePoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if got, err := size(dir); err == nil && got > limit {
			stop(fmt.Errorf("the download exceeds %d MiB: %w", limit>>20, ErrTooLarge))
			return
		}
	}
}
