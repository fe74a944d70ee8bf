package code

import (
	"strconv"
	"strings"
	"time"

	"touchstone/verdict/guard/change"
)

// limit is how long a test waits for something.
type limit struct {
	wait time.Duration
	line int
}

// longer is from how many times the wait on a longer limit is said.
const longer = 2

var units = map[string]time.Duration{
	"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
	"milliseconds": time.Millisecond, "seconds": time.Second, "minutes": time.Minute,
	"FromMilliseconds": time.Millisecond, "FromSeconds": time.Second, "FromMinutes": time.Minute,
	"from_millis": time.Millisecond, "from_secs": time.Second, "ofMillis": time.Millisecond, "ofSeconds": time.Second, "ofMinutes": time.Minute,
}

// limitsOf are the durations in a test's own text, in order: "200 * time.Millisecond",
// "Duration.ofSeconds(2)", "timeout: 5000", "timeout=5".
func (u *unit) limitsOf() []limit {
	var out []limit
	s := u.side
	add := func(i int, unit time.Duration) {
		if v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(s.of(i), "lLfF"), "_", ""), 64); err == nil && s.kindOf(i) == number {
			out = append(out, limit{time.Duration(v * float64(unit)), int(s.tokens[i].line)})
		}
	}
	u.own(func(i int) {
		name := s.of(i)
		switch unit := units[name]; {
		case s.kindOf(i) != word:
		case unit > 0 && s.of(i+1) == "(":
			add(i+2, unit)
		case unit > 0 && s.of(i-1) == "." && s.of(i-3) == "*":
			add(i-4, unit)
		case unit > 0 && s.of(i-1) == ".":
			add(i-2, unit)
		case strings.HasSuffix(strings.ToLower(name), "timeout") && (s.of(i+1) == ":" || s.of(i+1) == "=" || s.of(i+1) == "("):
			add(i+2, time.Second)
		}
	})
	return out
}

// compareLimits finds limits that are much longer than they were.
func (x *examination) compareLimits(p pair) {
	before, after := p.before.limitsOf(), p.after.limitsOf()
	if len(before) != len(after) {
		return
	}
	for i, l := range after {
		if before[i].wait > 0 && l.wait >= longer*before[i].wait {
			x.say(change.Evidence, change.Assertion, "assertion/longer-limit", "The test waits for much longer than it did.",
				p.before.side, p.after.side, before[i].line, l.line)
		}
	}
}
