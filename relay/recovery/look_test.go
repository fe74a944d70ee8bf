package recovery

import (
	"testing"
	"time"
)

func TestHowFarBackToLook(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, test := range map[string]struct {
		through   time.Time
		retention time.Duration
		since     time.Time
		lost      bool
	}{
		"the first time":        {since: ago(72 * time.Hour)},
		"ten minutes later":     {through: ago(10 * time.Minute), since: ago(20 * time.Minute)},
		"after two days":        {through: ago(48 * time.Hour), since: ago(48*time.Hour + 10*time.Minute)},
		"after three days":      {through: ago(72 * time.Hour), since: ago(72 * time.Hour)},
		"after four days":       {through: ago(96 * time.Hour), since: ago(72 * time.Hour), lost: true},
		"a log of a month":      {through: ago(time.Hour), retention: 720 * time.Hour, since: ago(70 * time.Minute)},
		"a log of a day, first": {retention: 24 * time.Hour, since: ago(24*time.Hour - 5*time.Minute)},
		"a log of a day, after two": {through: ago(48 * time.Hour), retention: 24 * time.Hour, since: ago(24*time.Hour - 5*time.Minute),
			lost: true},
		"a log of a day, an hour away": {through: ago(time.Hour), retention: 24 * time.Hour, since: ago(70 * time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			p := pass{Recovery: &Recovery{config: Config{Retention: test.retention}}}
			p.look(test.through, now)
			if !p.report.Since.Equal(test.since) {
				t.Errorf("looks back to %s, want %s", p.report.Since, test.since)
			}
			if lost := !p.report.OutOfReach.IsZero(); lost != test.lost {
				t.Errorf("says that something is lost: %t", lost)
			}
		})
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]string{
		"acme/app": "repository acme/app", "acme": "organization acme", "app:12": "app 12", "Acme-1/a.b_c": "repository Acme-1/a.b_c",
		"": "", "acme/": "", "/app": "", "a/b/c": "", "app:": "", "app:x": "", "acme app": "", "../x": "", "a?b": "", "acme/app#1": "",
	} {
		target, err := ParseTarget(text)
		if err == nil && target.String() != want || err != nil && want != "" {
			t.Errorf("%q is read as %v, %v", text, target, err)
		}
	}
}
