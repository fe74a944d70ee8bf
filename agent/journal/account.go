package journal

import (
	"cmp"
	"encoding/json"
	"time"

	"touchstone/verdict"
)

// Account is what session turns took, in total.
type Account struct {
	// Turns includes failed ones; Retries counts the retries that the CLIs made.
	Turns, Retries int
	Usage          verdict.Usage
	CostUSD        float64
	// Duration is the total time of the turns, but at most that of the act, in which several may run at once; FirstByte is
	// the time to the first byte, of the first turn that returned one.
	Duration, FirstByte time.Duration
	// Engine and Model are those of the latest turn.
	Engine, Model string
}

// Add adds later turns.
func (a *Account) Add(later Account) {
	a.Turns += later.Turns
	a.Retries += later.Retries
	a.Usage = a.Usage.Plus(later.Usage)
	a.CostUSD += later.CostUSD
	a.Duration += later.Duration
	a.FirstByte = cmp.Or(a.FirstByte, later.FirstByte)
	a.Engine, a.Model = later.Engine, later.Model
}

// account is the format of Account in the journal's files: flat, with times in seconds. Its keys are older than the
// names, and stay.
type account struct {
	Turns            int     `json:"runs"`
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
func (a Account) MarshalJSON() ([]byte, error) {
	u := a.Usage
	return json.Marshal(account{a.Turns, a.Retries, u.Input, u.CacheWrite, u.CacheRead, u.Output, a.CostUSD,
		a.Duration.Seconds(), a.FirstByte.Seconds(), a.Engine, a.Model})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Account) UnmarshalJSON(text []byte) error {
	var w account
	err := json.Unmarshal(text, &w)
	seconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	*a = Account{
		Turns: w.Turns, Retries: w.Retries,
		Usage:   verdict.Usage{Input: w.Input, CacheWrite: w.CacheWrite, CacheRead: w.CacheRead, Output: w.Output},
		CostUSD: w.CostUSD, Duration: seconds(w.Seconds), FirstByte: seconds(w.FirstByteSeconds), Engine: w.Engine, Model: w.Model,
	}
	return err
}
