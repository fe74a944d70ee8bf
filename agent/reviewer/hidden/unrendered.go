package hidden

import "touchstone/worktree/lazyregexp"

// comment matches Markdown that GitHub does not show: an HTML comment, or a link definition that is used as a
// comment (https://spec.commonmark.org/0.31.2/#html-blocks).
var comment = lazyregexp.New(`(?s)<!--(.*?)(?:-->|$)|(?m:^\[[^\]\n]*\]:[ \t]*(?:#|<>)[ \t]+["'(]([^\n]*)["')]$)`)

// RevealComments shows the parts of a description or a comment that its page does not show, between the
// brackets of [Reveal]. Programs keep their marks there, and templates their hints: once visible, such a
// comment is ordinary text.
func RevealComments(markdown string) string {
	return comment.ReplaceAllString(markdown, "⟦not on the page:$1$2⟧")
}
