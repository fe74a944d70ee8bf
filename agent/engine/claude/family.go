package claude

import "strings"

// Relatives are the models that may replace another one of the family while that one does not answer, by the
// CLI's names for the newest of their kind (https://code.claude.com/docs/en/model-config). Each of them is
// good enough to approve a change. The smallest model of the family, which may be chosen for small changes,
// never replaces another one.
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
