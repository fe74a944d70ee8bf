package githubsim

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"touchstone/agent/githubsim/bare"
	"touchstone/worktree/steps"
)

// maxText is the maximum length of the body of a review or a comment, in characters.
const maxText = 65_536

// reviewStates maps the event of a review to the resulting state.
var reviewStates = map[string]string{
	"": "PENDING", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED",
}

// textRefusal returns a 422 whose errors are plain texts, as for reviews.
func textRefusal(texts ...string) error {
	return &refusal{status: http.StatusUnprocessableEntity, message: "Unprocessable Entity", details: texts}
}

// visibleReviews leaves out other people's pending reviews, which only their authors may see.
func (c *call) visibleReviews(p *pull) []*review {
	return slices.DeleteFunc(slices.Clone(p.reviews), func(rv *review) bool {
		return rv.state == "PENDING" && rv.author != c.user
	})
}

func (c *call) listReviews() reply {
	return ok(each(page(c, c.visibleReviews(c.pull)), c.sim.renderReview))
}

type reviewInput struct {
	CommitID string `json:"commit_id"`
	Body     string `json:"body"`
	Event    string `json:"event"`
	Comments []struct {
		Path      string `json:"path"`
		Body      string `json:"body"`
		Position  int    `json:"position"`
		Line      int    `json:"line"`
		Side      string `json:"side"`
		StartLine int    `json:"start_line"`
		StartSide string `json:"start_side"`
	} `json:"comments"`
}

func (c *call) createReview() reply {
	var in reviewInput
	c.decode(&in)
	p := c.pull
	in.CommitID = cmp.Or(in.CommitID, p.headSHA)
	steps.Must(c.checkReview(in.Event, in.Body, len(in.Comments) > 0))
	// GitHub still accepts a commit that a force push removed from the pull request.
	if in.CommitID != p.headSHA {
		if _, err := p.repo.git.Commit(in.CommitID); err != nil {
			return fail(textRefusal("The commit_id does not exist"))
		}
	}
	rv := &review{
		text: text{author: c.user, body: in.Body, created: c.sim.Now()}, id: c.sim.id(), pull: p, commit: in.CommitID, state: "PENDING",
	}
	steps.Must(c.addComments(rv, in))
	p.reviews = append(p.reviews, rv)
	if in.Event != "" {
		c.submit(rv, in.Event)
	}
	return ok(c.sim.renderReview(rv))
}

// checkReview enforces the rules for a review's event.
// https://docs.github.com/en/rest/pulls/reviews#create-a-review-for-a-pull-request
func (c *call) checkReview(event, body string, inline bool) error {
	verb := map[string]string{"APPROVE": "approve", "REQUEST_CHANGES": "request changes on"}[event]
	switch {
	case reviewStates[event] == "":
		return textRefusal("Variable $event of type PullRequestReviewEvent was provided invalid value")
	case verb != "" && c.user == c.pull.author:
		return textRefusal("Can not " + verb + " your own pull request")
	case event == "REQUEST_CHANGES" && strings.TrimSpace(body) == "",
		event == "COMMENT" && strings.TrimSpace(body) == "" && !inline:
		return textRefusal("Body is required")
	case utf8.RuneCountInString(body) > maxText:
		return textRefusal(fmt.Sprintf("Body is too long (maximum is %d characters)", maxText))
	}
	for _, rv := range c.pull.reviews {
		if event == "" && rv.author == c.user && rv.state == "PENDING" {
			return textRefusal("User can only have one pending review per pull request")
		}
	}
	return nil
}

// addComments places the inline comments; a single comment without a place refuses them all.
func (c *call) addComments(rv *review, in reviewInput) error {
	if len(in.Comments) == 0 {
		return nil
	}
	diff, err := c.repo.git.Compare(c.ctx, c.pull.baseSHA, rv.commit)
	if err != nil {
		return err
	}
	for _, cm := range in.Comments {
		i := slices.IndexFunc(diff.Files, func(f bare.File) bool { return f.Path == cm.Path })
		if i < 0 {
			return textRefusal("Path could not be resolved")
		}
		if strings.TrimSpace(cm.Body) == "" || utf8.RuneCountInString(cm.Body) > maxText {
			return textRefusal("Body is required and at most 65536 characters long")
		}
		rc := &reviewComment{
			id: c.sim.id(), author: c.user, path: cm.Path, body: cm.Body, side: cmp.Or(cm.Side, "RIGHT"), line: cm.Line,
			commit: rv.commit, created: c.sim.Now(), review: rv,
		}
		patch := diff.Files[i].Patch
		position, hunk, found := bare.Anchor(patch, rc.side, cm.Line)
		if cm.Line == 0 && cm.Position > 0 && cm.Position < strings.Count(patch, "\n")+1 {
			position, found = cm.Position, true
		}
		if !found {
			return textRefusal("Line could not be resolved")
		}
		if cm.StartLine != 0 {
			rc.startLine, rc.startSide = cm.StartLine, cmp.Or(cm.StartSide, "RIGHT")
			_, startHunk, startFound := bare.Anchor(patch, rc.startSide, cm.StartLine)
			if !startFound || startHunk != hunk || cm.StartLine >= cm.Line && rc.startSide == rc.side {
				return textRefusal("Start line must precede the end line and be part of the same hunk")
			}
		}
		rc.position = position
		rc.hunk = strings.Join(strings.SplitN(patch, "\n", position+2)[:position+1], "\n")
		rv.comments = append(rv.comments, rc)
		c.pull.threads = append(c.pull.threads, &thread{id: c.sim.id(), comments: []*reviewComment{rc}})
	}
	return nil
}

// submit publishes a review.
func (c *call) submit(rv *review, event string) {
	p := c.pull
	rv.state, rv.submitted = reviewStates[event], c.sim.Now()
	p.requested = slices.DeleteFunc(p.requested, func(a *account) bool { return a == rv.author })
	p.updated = c.sim.Now()
	c.emitReview(rv, "submitted")
	for _, rc := range rv.comments {
		c.sim.emit(p.repo, c.user, "pull_request_review_comment", "created", object{
			"comment": c.sim.renderReviewComment(rc), "pull_request": c.sim.renderPull(p),
		})
	}
}

// emitReview sends a review event, in which the state is in lower case.
func (c *call) emitReview(rv *review, action string) {
	rendered := c.sim.renderReview(rv)
	rendered["state"] = strings.ToLower(rv.state)
	payload := object{"review": rendered, "pull_request": c.sim.renderPull(c.pull)}
	if action == "edited" {
		payload["changes"] = object{}
	}
	c.sim.emit(c.repo, c.user, "pull_request_review", action, payload)
}

// review finds the review that the path names.
func (c *call) review() *review {
	return must(find(c.visibleReviews(c.pull), func(rv *review) bool { return rv.id == c.id("review") }), errNotFound)
}

func (c *call) getReview(rv *review) reply { return ok(c.sim.renderReview(rv)) }

// updateReview changes the body; its author may do that, and everyone with write access.
// https://docs.github.com/en/communities/moderating-comments-and-conversations/managing-disruptive-comments
func (c *call) updateReview(rv *review) reply {
	var in struct{ Body string }
	c.decode(&in)
	c.needWriteUnless(rv.author)
	if strings.TrimSpace(in.Body) == "" || utf8.RuneCountInString(in.Body) > maxText {
		return fail(textRefusal("Body is required and at most 65536 characters long"))
	}
	rv.edit(c.user, c.sim.Now(), in.Body)
	c.pull.updated = c.sim.Now()
	c.emitReview(rv, "edited")
	return ok(c.sim.renderReview(rv))
}

func (c *call) dismissReview(rv *review) reply {
	var in struct {
		Message string `json:"message"`
	}
	c.decode(&in)
	if rv.state != "APPROVED" && rv.state != "CHANGES_REQUESTED" {
		return fail(textRefusal("Can not dismiss a commented pull request review"))
	}
	p, was := c.pull, rv.state
	p.happened("ReviewDismissedEvent", c.user, func(c *call) fields {
		return fields{"previousReviewState": was, "dismissalMessage": in.Message, "review": c.reviewNode(rv)}
	})
	rv.state = "DISMISSED"
	c.emitReview(rv, "dismissed")
	return ok(c.sim.renderReview(rv))
}

func (c *call) reviewComments(rv *review) reply {
	return ok(each(page(c, rv.comments), c.sim.renderReviewComment))
}

func (c *call) pullComments() reply {
	var all []*reviewComment
	for _, rv := range c.visibleReviews(c.pull) {
		all = append(all, rv.comments...)
	}
	return ok(each(page(c, all), c.sim.renderReviewComment))
}

func (c *call) requestReviewers() reply {
	return c.changeReviewers(http.StatusCreated, "review_requested", func(a *account) bool {
		if a == c.pull.author {
			fail(refuse(http.StatusUnprocessableEntity, "Review cannot be requested from pull request author."))
		}
		again := slices.Contains(c.pull.requested, a)
		if !again {
			c.pull.requested = append(c.pull.requested, a)
		}
		return !again
	})
}

func (c *call) unrequestReviewers() reply {
	return c.changeReviewers(http.StatusOK, "review_request_removed", func(a *account) bool {
		before := len(c.pull.requested)
		c.pull.requested = slices.DeleteFunc(c.pull.requested, func(other *account) bool { return other == a })
		return len(c.pull.requested) != before
	})
}

func (c *call) changeReviewers(status int, action string, change func(*account) (changed bool)) reply {
	var in struct{ Reviewers []string }
	c.decode(&in)
	for _, login := range in.Reviewers {
		a := c.sim.findAccount(login)
		if a == nil || c.repo.permission(a) == "none" {
			return fail(refuse(http.StatusUnprocessableEntity, "Reviews may only be requested from collaborators."))
		}
		if change(a) {
			c.sim.emitPull(c.ctx, c.pull, c.user, action, object{"requested_reviewer": c.sim.renderUser(a)})
		}
	}
	return reply{status: status, body: c.sim.renderPull(c.pull)}
}
