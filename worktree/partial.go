package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	// blobFilter leaves out the content of all files.
	blobFilter = "blob:none"
	// promisor is the name under which git knows where to get what was left out.
	promisor = "touchstone"
	// partialMark is an empty file in mirrors that are partial.
	partialMark = "touchstone-partial"
)

// errUnfiltered says that the server sent everything instead.
var errUnfiltered = errors.New("the server does not offer partial clones")

// partial reports whether the mirror lacks content that its remote has.
func (r repo) partial() bool { return exists(filepath.Join(r.mirror, partialMark)) }

// promise are the settings by which git fetches what a partial mirror lacks, and takes
// its lack for no damage. They are in no file: another program that runs git in a tree,
// without our credentials, gets an error instead of a question for a password.
func (r repo) promise() []string {
	settings := []string{"remote." + promisor + ".promisor=true", "remote." + promisor + ".partialCloneFilter=" + blobFilter}
	if r.remote != nil {
		settings = append(settings, "remote."+promisor+".url="+r.remote.URL)
	}
	return settings
}

// fetchPartly fills an empty mirror with everything but the content of files; with that
// too if the server knows no other way.
func (r repo) fetchPartly(ctx context.Context, remote Remote, refspecs []string) error {
	if err := r.begin(); err != nil {
		return err
	}
	mark := filepath.Join(r.mirror, partialMark)
	if err := writeFile(mark, ""); err != nil {
		return err
	}
	err := r.fetch(ctx, remote, refspecs...)
	if errors.Is(err, errUnfiltered) {
		zerolog.Ctx(ctx).Info().Err(err).Msg("the repository is downloaded whole")
		return os.Remove(mark)
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
		watchSize(fetching, filepath.Join(r.mirror, "objects"), limit, stop)
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
