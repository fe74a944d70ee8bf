package journal

import "touchstone/relay/event"

// activityFile holds what the agent does now.
const activityFile = "activity.json"

// SetActivity says what the agent does now, for those who read the journal meanwhile.
func (j *Journal) SetActivity(b event.Beacon) error { return j.setPassing(activityFile, b) }

// ActivityOf is what the agent does which has the journal in dir open; the zero value if there is
// no such agent.
func ActivityOf(dir string) (event.Beacon, error) {
	var b event.Beacon
	err := readPassing(dir, activityFile, &b)
	return b, err
}
