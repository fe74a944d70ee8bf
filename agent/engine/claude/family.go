package claude

import "strings"

// Relatives are models that may stand in for another of the family while that one does not
// answer, by the CLI's names for the newest of their kind
// (https://code.claude.com/docs/en/model-config). Each is fit to approve a change; the
// smallest of the family, which may be chosen for small changes, is never gone on with.
func (e *Engine) Relatives(model string) []string {
	switch {
	case model == "", strings.Contains(model, "haiku"):
		return []string{"sonnet", "opus"}
	case strings.Contains(model, "opus"):
		return []string{"sonnet"}
	case strings.Contains(model, "sonnet"):
		return []string{"opus"}
	}
	return nil
}
