package dashboard

import (
	"time"

	"touchstone/relay/dashboard/projection"
)

// Health is the state of the relay.
type Health struct {
	Log       string `json:"log"`
	Version   string `json:"version"`
	Head      string `json:"head"`
	Oldest    string `json:"oldest"` // the first event that the log holds; empty if there is none
	Retention string `json:"retention"`
	Store     string `json:"store"`
	// Ready says why the store cannot be used, or what cannot be read in it; empty while all is well.
	Ready   string `json:"not_ready,omitempty"`
	Damaged int64  `json:"damaged_events"`
	// KnownSince is the time from which on the page knows the log, Projected the position that it has
	// reached, and Projection why it has stopped; empty if it has not.
	KnownSince time.Time `json:"known_since,omitzero"`
	Projected  string    `json:"projected"`
	Projection string    `json:"projection_stopped,omitempty"`
	// StoreBytes and ProjectionBytes are the sizes of the store and of the projection on disk. FreeBytes is
	// what is free on the projection's disk. Each is 0 if it is not known.
	StoreBytes      int64 `json:"store_bytes"`
	ProjectionBytes int64 `json:"projection_bytes"`
	FreeBytes       int64 `json:"free_bytes"`

	Sources []projection.Source `json:"sources"`
	// Where tokens are required, only administrators see Hooks, Subscribers and Tokens.
	Hooks       []Hook            `json:"hooks,omitempty"`
	Subscribers []Subscriber      `json:"subscribers,omitempty"`
	Tokens      []Token           `json:"tokens,omitempty"`
	Settings    map[string]string `json:"settings"`
	SettingsBy  string            `json:"settings_by,omitempty"`
	SettingsAt  time.Time         `json:"settings_at,omitzero"`
}

// Hook is a webhook that the relay looks after, as the last comparison with GitHub's list found it.
type Hook struct {
	Name string `json:"name"`
	// Target is the hook's owner, such as "repository acme/app".
	Target string `json:"target"`
	// Ping is when GitHub's last ping from there arrived. Compared is when the deliveries were last compared,
	// and Since how far back.
	Ping     time.Time `json:"last_ping,omitzero"`
	Compared time.Time `json:"compared,omitzero"`
	Since    time.Time `json:"since,omitzero"`
	// Missing counts the deliveries that the log lacked then, Recovered those that were brought in, and Left
	// those that are still missing.
	Missing   int `json:"missing"`
	Recovered int `json:"recovered"`
	Left      int `json:"left"`
	// Gap is the beginning of a time whose deliveries GitHub no longer lists: those until Since are lost.
	Gap time.Time `json:"gap,omitzero"`
	// Problem says why the comparison failed.
	Problem string `json:"problem,omitempty"`
}

// Subscriber is a token with open streams.
type Subscriber struct {
	Token string `json:"token"`
	// Streams counts them; Behind is how many events the slowest of them is behind.
	Streams int   `json:"streams"`
	Behind  int64 `json:"behind"`
}

// Token is an access token or an invitation, without its secret.
type Token struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Role     string    `json:"role"`
	Scope    string    `json:"scope"`
	Created  time.Time `json:"created"`
	LastUsed time.Time `json:"last_used,omitzero"`
	Revoked  bool      `json:"revoked,omitempty"`
	Invite   bool      `json:"invite,omitempty"`
}
