package journal

import (
	"encoding/json"
	"time"

	"touchstone/verdict"
)

// Spent is the total cost of session turns.
type Spent struct {
	// Runs counts the turns, including failed ones; Retries counts the retries that the CLIs made.
	Runs, Retries int
	Usage         verdict.Usage
	CostUSD       float64
	// Duration is the total time of the turns; FirstByte is the time to the first byte, of the first turn
	// that returned one.
	Duration, FirstByte time.Duration
	// Engine and Model are those of the latest turn.
	Engine, Model string
}

// Add adds one or more later turns.
func (s *Spent) Add(turn Spent) {
	s.Runs += turn.Runs
	s.Retries += turn.Retries
	s.Usage = s.Usage.Plus(turn.Usage)
	s.CostUSD += turn.CostUSD
	s.Duration += turn.Duration
	if s.FirstByte == 0 {
		s.FirstByte = turn.FirstByte
	}
	s.Engine, s.Model = turn.Engine, turn.Model
}

// spent is the format of Spent in the journal's files: flat, with times in seconds.
type spent struct {
	Runs             int     `json:"runs"`
	Retries          int     `json:"retries,omitempty"`
	Input            int64   `json:"input"`
	CacheWrite       int64   `json:"cache_write"`
	CacheRead        int64   `json:"cache_read"`
	Output           int64   `json:"output"`
	CostUSD          float64 `json:"cost_usd"`
	Seconds          float64 `json:"seconds"`
	FirstByteSeconds float64 `json:"first_byte_seconds"`
	Engine           string  `json:"engine"`
	Model            string  `json:"model"`
}

// MarshalJSON writes the format of the journal's files.
func (s Spent) MarshalJSON() ([]byte, error) {
	u := s.Usage
	return json.Marshal(spent{s.Runs, s.Retries, u.Input, u.CacheWrite, u.CacheRead, u.Output, s.CostUSD,
		s.Duration.Seconds(), s.FirstByte.Seconds(), s.Engine, s.Model})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Spent) UnmarshalJSON(text []byte) error {
	var w spent
	err := json.Unmarshal(text, &w)
	seconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	*s = Spent{
		Runs: w.Runs, Retries: w.Retries,
		Usage:   verdict.Usage{Input: w.Input, CacheWrite: w.CacheWrite, CacheRead: w.CacheRead, Output: w.Output},
		CostUSD: w.CostUSD, Duration: seconds(w.Seconds), FirstByte: seconds(w.FirstByteSeconds), Engine: w.Engine, Model: w.Model,
	}
	return err
}
