package author

import (
	"maps"
	"slices"

	"touchstone/guidelines"
	"touchstone/verdict"
)

// recurrence is the line in which a session declares what prevents a defect from coming back; "" unless it
// declares exactly one action. The session cannot write commit messages itself.
func recurrence(answer string) string {
	declared := slices.Collect(maps.Values(guidelines.Recurrence(answer)))
	if len(declared) != 1 {
		return ""
	}
	return line(declared[0]) + "\n"
}

func ids(l verdict.Ledger) []string {
	var ids []string
	for _, e := range l.Outstanding() {
		ids = append(ids, e.ID)
	}
	return ids
}
