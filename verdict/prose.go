package verdict

import (
	"fmt"

	"touchstone/worktree/lazyregexp"
)

// Text that would act on GitHub if a model wrote it: a mention notifies a person or a team, and a slash
// command at the start of a line orders this or another bot to do something.
var (
	mention = lazyregexp.New(`@([A-Za-z0-9])`)
	command = lazyregexp.New(`(?m)^(\s*)/([A-Za-z])`)
)

// Prose is [Neutralise] for text that is shown as Markdown: it also disables mentions and slash commands. It
// inserts the entity of a zero-width space, so the text reads as before.
func Prose(text string) string {
	text = mention.ReplaceAllString(Neutralise(text), "@&#8203;$1")
	return command.ReplaceAllString(text, "$1&#8203;/$2")
}

// Amount is a number with its noun, such as "1 round" or "2 rounds".
func Amount(n int, one, many string) string {
	if n != 1 {
		one = many
	}
	return fmt.Sprintf("%d %s", n, one)
}
