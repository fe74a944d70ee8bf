package hidden

import "touchstone/worktree/lazyregexp"

// comment is Markdown that GitHub does not show: an HTML comment, and a link definition
// that is used as one (https://spec.commonmark.org/0.31.2/#html-blocks).
var comment = lazyregexp.New(`(?s)<!--(.*?)(?:-->|$)|(?m:^\[[^\]\n]*\]:[ \t]*(?:#|<>)[ \t]+["'(]([^\n]*)["')]$)`)

// RevealComments shows what a description or a comment holds and its page does not, between
// the brackets of [Reveal]. Programs keep marks of their own there, and templates their
// hints: a comment is a text like any other once it is seen.
func RevealComments(markdown string) string {
	return comment.ReplaceAllString(markdown, "⟦not on the page:$1$2⟧")
}
