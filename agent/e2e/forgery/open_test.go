package forgery

// open are attacks that still have their way: parts of their names. What they need is a
// decision, or what GitHub does not tell: when somebody got a right, and that a base is rewritten
// while the merge call is on its way.
var open = []string{
	"author: base retarget: an objection against another base",
	"maintainer who wrote of it: comment: a waiver",
	"maintainer who wrote of it: comment: break-glass",
	"maintainer who wrote of it: comment: break-glass over a hold",
	"maintainer who wrote of it: approving review: break-glass over a hold",
	"triager: comment: a waiver older than the right to give it",
	"triager: comment: break-glass older than the right to give it",
	"writer: base rewrite: at the merge call",
}
