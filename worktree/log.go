package worktree

import (
	"context"
	"fmt"
	"strings"
)

const (
	// maxLog bounds the commits that Log returns.
	maxLog = 100
	// maxLogMessage bounds each of these messages, in bytes.
	maxLogMessage = 4 << 10
	// maxSubject bounds a subject, in bytes.
	maxSubject = 200
)

// maxSubjects bounds the subjects that Subjects returns.
const maxSubjects = 8

// Subjects returns the subjects of the latest commits in a commit's history, without merges, the newest
// first: at most 8. The commits' authors may have written anything.
func (t *Tree) Subjects(ctx context.Context, sha string) ([]string, error) {
	if err := checkSHAs(sha); err != nil {
		return nil, err
	}
	out, err := t.mirror.Output(ctx, "log", "-z", "--format=%s", "--no-merges", fmt.Sprintf("--max-count=%d", maxSubjects), sha)
	if err != nil {
		return nil, fmt.Errorf("read the subjects of commits: %w", err)
	}
	subjects := splitNames(out)
	for i, s := range subjects {
		subjects[i] = strings.ToValidUTF8(s[:min(len(s), maxSubject)], "")
	}
	return subjects, nil
}

// Log returns the messages of the pull request's own commits, which are in the acquired head and not in its
// base, the newest first: at most 100, with the first 4 KiB of each. The commits' authors may have written
// anything.
func (t *Tree) Log(ctx context.Context) ([]string, error) {
	out, err := t.mirror.Output(ctx, "log", "-z", "--format=%B", fmt.Sprintf("--max-count=%d", maxLog), t.req.Base+".."+t.req.Head)
	if err != nil {
		return nil, fmt.Errorf("read the commit messages: %w", err)
	}
	messages := splitNames(out)
	for i, m := range messages {
		messages[i] = strings.ToValidUTF8(strings.TrimSpace(m[:min(len(m), maxLogMessage)]), "")
	}
	return messages, nil
}
