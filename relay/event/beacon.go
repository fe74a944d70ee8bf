package event

import "time"

// MaxBeaconBytes bounds a Beacon as JSON.
const MaxBeaconBytes = 4 << 10

// Beacon is what an agent reports about itself to its relay, with PUT /api/v1/machines/self: at each change
// and every half minute. It holds no code, no prompt and no path.
type Beacon struct {
	// Role is reviewer or author. Login is the account the agent acts as. Version is the program's version.
	Role    string `json:"role"`
	Login   string `json:"login"`
	Version string `json:"version"`
	// Engine and Model are those that the settings choose for whole reviews or for fixes.
	Engine string `json:"engine"`
	Model  string `json:"model"`
	// Work is the work under way, the oldest first.
	Work []Work `json:"work"`
	// Queued counts the pull requests that wait until other work is done.
	Queued int `json:"queued"`
	// Resting are the models that are left alone for a while because they did not answer.
	Resting []string `json:"resting"`
	// Cursor is how far the agent has read the log; empty before the first event.
	Cursor string `json:"cursor"`
}

// Work is an agent's work on one pull request.
type Work struct {
	// Pull is the pull request as owner/name#12.
	Pull string `json:"pull"`
	// Act is the kind of work, such as review, fix or merge.
	Act string `json:"act"`
	// Phase is the current dimension of a review or the current step of a fix; empty where there is none.
	Phase string `json:"phase"`
	// Since is when it began.
	Since time.Time `json:"since"`
}
