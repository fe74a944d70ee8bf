package journal

import "touchstone/relay/event"

// activityFile holds what the agent is doing.
const activityFile = "activity.json"

// SetActivity reports what the agent is doing, for readers of the journal.
func (j *Journal) SetActivity(b event.Beacon) error { return j.setPassing(activityFile, b) }

// ActivityOf returns what the agent that has the journal in dir open is doing; the zero value if there is no
// such agent.
func ActivityOf(dir string) (event.Beacon, error) {
	return readPassing[event.Beacon](dir, activityFile)
}
