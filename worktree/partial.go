package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
)

// Partial says which mirrors hold the content of files only for commits that were checked out or compared.
// Missing content is fetched when it is needed, with the credentials of the request. See
// https://git-scm.com/docs/partial-clone.
type Partial string

const (
	// PartialAuto, or "", makes mirrors partial if the repository's download exceeds 512 MiB.
	PartialAuto Partial = "auto"
	// PartialOn makes all mirrors partial whose server offers it.
	PartialOn Partial = "on"
	// PartialOff makes no mirror partial.
	PartialOff Partial = "off"
)

const (
	// largeMirror is the size of a download, in bytes, beyond which it starts again without the content of
	// files.
	largeMirror = 512 << 20
	// measurePoll is the time between two measurements of a download.
	measurePoll = 200 * time.Millisecond
)

// errUnfiltered says that the server sent the content of files as well.
var errUnfiltered = errors.New("the server does not offer partial clones")

// fetchPartly fills an empty mirror with everything except the content of files. If the server does not offer
// partial clones, the content is included.
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

// fetchWhole fills an empty mirror. It returns ErrTooLarge if the mirror grows larger than a whole mirror
// should be; the size is not known in advance.
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

// watchSize stops a download as soon as a directory holds more than limit bytes.
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
