package event

import "time"

// MaxBeaconBytes bounds a Beacon as JSON.
const MaxBeaconBytes = 4 << 10

// Beacon is what an agent tells its relay of itself, with PUT /api/v1/machines/self: at each change
// and every half minute. It holds no code, no prompt and no path.
type Beacon struct {
	// Role is reviewer or author, Login who the agent acts as, Version the program's.
	Role    string `json:"role"`
	Login   string `json:"login"`
	Version string `json:"version"`
	// Engine and Model are those that the settings choose for whole reviews or for fixes.
	Engine string `json:"engine"`
	Model  string `json:"model"`
	// Work is what is being done, the oldest first.
	Work []Work `json:"work"`
	// Queued counts the pull requests that wait until another's work is done.
	Queued int `json:"queued"`
	// Resting are the models that are left alone for a while, since they did not answer.
	Resting []string `json:"resting"`
	// Cursor is how far the agent has read the log; empty before the first event.
	Cursor string `json:"cursor"`
}

// Work is what an agent does to one pull request.
type Work struct {
	// Pull is the pull request as owner/name#12.
	Pull string `json:"pull"`
	// Act is what is done, such as review, fix or merge.
	Act string `json:"act"`
	// Phase is the dimension that a review is at, or the step of a fix; empty where there is none.
	Phase string `json:"phase"`
	// Since is when it began.
	Since time.Time `json:"since"`
}
