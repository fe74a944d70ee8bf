package main

import (
	"regexp"
	"strings"
	"testing"

	"touchstone/agent/skill"
)

// TestTheSkillNamesWhatThereIs: each command line of the skill is one that this program takes.
func TestTheSkillNamesWhatThereIs(t *testing.T) {
	t.Parallel()
	lines := regexp.MustCompile("(?m)(?:^    |`)touchstone ([^`#\n]+)").FindAllSubmatch(skill.Text, -1)
	if len(lines) < 4 {
		t.Fatalf("only %d command lines were found", len(lines))
	}
	for _, line := range lines {
		args := strings.Fields(string(line[1]))
		cmd, rest, err := newRoot().Find(args)
		if err != nil || !cmd.HasParent() {
			t.Errorf("touchstone %s: no such command, %v", line[1], err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("touchstone %s: %v", line[1], err)
		}
	}
}
