package forge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// IncidentKind says what happened.
type IncidentKind string

// The kinds of incident. Before and After are the commits of a force push, or the branches of a changed base.
// For a dismissal they are the states of the review, and for a deleted comment Before is its author.
const (
	HeadForcePushed IncidentKind = "head-force-pushed"
	BaseForcePushed IncidentKind = "base-force-pushed"
	BaseChanged     IncidentKind = "base-changed"
	ReviewDismissed IncidentKind = "review-dismissed"
	CommentDeleted  IncidentKind = "comment-deleted"
	Closed          IncidentKind = "closed"
	Reopened        IncidentKind = "reopened"
)

// Incident is an event that withdrew, rewrote or interrupted something in a pull request.
type Incident struct {
	Kind          IncidentKind
	By            User
	At            time.Time
	Before, After string // see IncidentKind; empty if GitHub no longer has it
	Review        int64  // of a dismissal
	Reason        string // of a dismissal: untrusted text
}

// Incidents reads all incidents of a pull request, oldest first.
func (c *Client) Incidents(ctx context.Context, ref Ref) ([]Incident, error) {
	op := "read what happened to " + ref.String()
	variables := ref.variables()
	var all []Incident
	for range snapshotPages {
		found, err := readPull[struct{ TimelineItems connection[incidentNode] }](ctx, c, op, incidentsQuery, variables)
		if err != nil {
			return nil, err
		}
		items := found.TimelineItems
		var page []Incident
		for _, node := range items.Nodes {
			page = append(page, node.incident())
		}
		all = slices.Concat(page, all)
		if !items.PageInfo.advance(variables, "before") {
			return all, nil
		}
	}
	return nil, c.failed(op, errors.New("more happened to it than this program reads: check it by hand"))
}

type incidentNode struct {
	Typename                  string `json:"__typename"`
	Actor                     *actorNode
	CreatedAt                 time.Time
	BeforeCommit, AfterCommit *oidNode
	PreviousRefName           string
	CurrentRefName            string
	PreviousReviewState       string
	DismissalMessage          string
	Review                    *struct{ FullDatabaseID bigInt }
	DeletedCommentAuthor      *actorNode
}

func (n incidentNode) incident() Incident {
	kinds := map[string]IncidentKind{
		"HeadRefForcePushedEvent": HeadForcePushed, "BaseRefForcePushedEvent": BaseForcePushed, "BaseRefChangedEvent": BaseChanged,
		"ReviewDismissedEvent": ReviewDismissed, "CommentDeletedEvent": CommentDeleted, "ClosedEvent": Closed, "ReopenedEvent": Reopened,
	}
	in := Incident{
		Kind: kinds[n.Typename], By: n.Actor.user(), At: n.CreatedAt, Reason: n.DismissalMessage,
		Before: cmp.Or(n.BeforeCommit.sha(), n.PreviousRefName, n.PreviousReviewState), After: cmp.Or(n.AfterCommit.sha(), n.CurrentRefName),
	}
	if n.DeletedCommentAuthor != nil {
		in.Before = n.DeletedCommentAuthor.user().Login
	}
	if n.Review != nil {
		in.Review = int64(n.Review.FullDatabaseID)
	}
	return in
}
