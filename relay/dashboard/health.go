package dashboard

import "time"

// Health is how the relay does.
type Health struct {
	Log       string `json:"log"`
	Version   string `json:"version"`
	Head      string `json:"head"`
	Oldest    string `json:"oldest"` // the first event that the log holds; empty without any
	Retention string `json:"retention"`
	Store     string `json:"store"`
	// Ready is why the store cannot be used; empty while it can.
	Ready   string `json:"not_ready,omitempty"`
	Damaged int64  `json:"damaged_events"`
	// KnownSince is from when on the page knows the log, Projected how far it has come, and
	// Projection why it stands still; empty while it does not.
	KnownSince time.Time `json:"known_since,omitzero"`
	Projected  string    `json:"projected"`
	Projection string    `json:"projection_stopped,omitempty"`
	// StoreBytes and ProjectionBytes are the sizes of the store and of the projection on the disk, FreeBytes what is left on
	// the projection's; 0 where that is not known.
	StoreBytes      int64 `json:"store_bytes"`
	ProjectionBytes int64 `json:"projection_bytes"`
	FreeBytes       int64 `json:"free_bytes"`

	Sources []Source `json:"sources"`
	// What follows, administrators see alone.
	Hooks       []Hook            `json:"hooks,omitempty"`
	Subscribers []Subscriber      `json:"subscribers,omitempty"`
	Tokens      []Token           `json:"tokens,omitempty"`
	Settings    map[string]string `json:"settings"`
	SettingsBy  string            `json:"settings_by,omitempty"`
	SettingsAt  time.Time         `json:"settings_at,omitzero"`
}

// Source is an endpoint for webhooks, and when it last took one.
type Source struct {
	Name   string    `json:"name"`
	Events int64     `json:"events"`
	Last   time.Time `json:"last,omitzero"`
	Ping   time.Time `json:"last_ping,omitzero"`
}

// Hook is a webhook that the relay looks after, as the last comparison with GitHub's list found it.
type Hook struct {
	Name string `json:"name"`
	// Target is whose it is, such as "repository acme/app".
	Target string `json:"target"`
	// Ping is when GitHub's last ping from there came, Compared when its deliveries were compared last, and Since from
	// when on.
	Ping     time.Time `json:"last_ping,omitzero"`
	Compared time.Time `json:"compared,omitzero"`
	Since    time.Time `json:"since,omitzero"`
	// Missing counts what the log lacked then, Recovered what of it was brought in, and Left what is still missing.
	Missing   int `json:"missing"`
	Recovered int `json:"recovered"`
	Left      int `json:"left"`
	// Gap is when a time began whose deliveries GitHub lists no more: what came until Since is lost.
	Gap time.Time `json:"gap,omitzero"`
	// Problem is why the comparison failed.
	Problem string `json:"problem,omitempty"`
}

// Subscriber is a stream that is open.
type Subscriber struct {
	Token  string `json:"token"`
	Behind int64  `json:"behind"`
}

// Token is an access token, or an invitation to one, without its secret.
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
