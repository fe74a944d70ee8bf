package journal

import (
	"encoding/json"
	"testing"
	"time"

	"touchstone/verdict"
)

// Journals that an earlier version wrote are read by this one, and the other way round.
func TestWhatWasSpentKeepsItsFormInTheFile(t *testing.T) {
	const text = `{"runs":2,"retries":1,"input":3,"cache_write":4,"cache_read":5,"output":6,"cost_usd":0.5,` +
		`"seconds":90.5,"first_byte_seconds":1.25,"engine":"claude","model":"m"}`
	want := Account{Turns: 2, Retries: 1, Usage: verdict.Usage{Input: 3, CacheWrite: 4, CacheRead: 5, Output: 6}, CostUSD: 0.5,
		Duration: 90*time.Second + 500*time.Millisecond, FirstByte: 1250 * time.Millisecond, Engine: "claude", Model: "m"}
	var got Account
	if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
		t.Errorf("read %+v, %v; want %+v", got, err, want)
	}
	if back, err := json.Marshal(want); err != nil || string(back) != text {
		t.Errorf("wrote %s, %v; want %s", back, err, text)
	}
}
