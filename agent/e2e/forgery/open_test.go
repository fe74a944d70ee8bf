package forgery

// open are attacks that still have their way: parts of their names. What they need is a
// decision, or what GitHub does not tell: when somebody got a right, and that a base is rewritten
// while the merge call is on its way.
var open = []string{
	"author: base retarget: an objection against another base",
	"writer: base rewrite: at the merge call",
}
