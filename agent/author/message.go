package author

import (
	"maps"
	"slices"

	"touchstone/guidelines"
	"touchstone/verdict"
)

// recurrence is the line by which a session declares what keeps a defect from coming back; ""
// unless it declares one action. It cannot write commit messages itself.
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
