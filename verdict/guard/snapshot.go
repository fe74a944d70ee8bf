package guard

import (
	"fmt"
	"strings"
)

const (
	// wholesaleLines is the number of lines from which on a snapshot counts.
	wholesaleLines = 10
	// wholesaleShare is the part of its lines that has to be gone.
	wholesaleShare = 0.5
)

func isSnapshot(name string) bool {
	return matches(name, "*.snap", "*.ambr", "*.golden", "*.approved.*", "*.verified.*", "*.snapshot") ||
		strings.Contains(name, "/__snapshots__/") || strings.HasPrefix(name, "__snapshots__/")
}

// snapshots finds recorded results of which most were recorded anew: no reader
// checks such a change, so it asserts only that the code does what it does.
func snapshots(p *patch) []Hit {
	var hits []Hit
	for _, f := range p.files {
		if f.added() || f.deleted() || !isSnapshot(f.new.path) || len(f.old.lines) < wholesaleLines {
			continue
		}
		kept := map[string]int{}
		for _, line := range f.new.lines {
			kept[strings.TrimSpace(line)]++
		}
		changed, first := 0, 0
		for i, line := range f.old.lines {
			if text := strings.TrimSpace(line); kept[text] > 0 {
				kept[text]--
				continue
			}
			changed++
			if first == 0 {
				first = i + 1
			}
		}
		// Entries that are gone with their tests are no rewriting.
		if rewritten := changed - max(0, len(f.old.lines)-len(f.new.lines)); float64(rewritten) > wholesaleShare*float64(len(f.old.lines)) {
			hits = append(hits, Hit{Assertion, f.path(), first, f.old.at(first), "",
				fmt.Sprintf("The snapshot is rewritten wholesale: %d of its %d lines are new.", rewritten, len(f.old.lines))})
		}
	}
	return hits
}
