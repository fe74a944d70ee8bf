package projection

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"time"

	"touchstone/relay/event"
	"touchstone/relay/internal/payload"
	"touchstone/verdict"
)

// Commit is what the log says about one commit of a repository: its checks, the statuses that the agents wrote
// on it, and the repairs in the push that brought it.
type Commit struct {
	Checks map[string]Check `json:"checks,omitempty"` // by name
	// Signs are the agents' own statuses, by context.
	Signs map[string]Check `json:"signs,omitempty"`
	// Repairs are the commits of the author's agent in the push that brought this commit.
	Repairs []Fix `json:"repairs,omitempty"`
}

// Check is the newest status or check run of its name.
type Check struct {
	State string    `json:"state"` // success, failure or pending
	Text  string    `json:"text,omitempty"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"`
	// Run is the number of the check run; a later run has a greater number.
	Run int64 `json:"run,omitempty"`
	// ID is the number of the status; a later status has a greater number.
	ID int64 `json:"id,omitempty"`
}

// Fix is a commit of the author's agent.
type Fix struct {
	SHA     string        `json:"sha"`
	At      time.Time     `json:"at"`
	Message string        `json:"message"`
	CostUSD float64       `json:"cost_usd,omitempty"`
	Time    time.Duration `json:"time,omitempty"`
}

// maxChecks bounds the checks that are kept of a commit. Of more than that, those that passed are the first to go.
const maxChecks = 300

// status processes a commit status.
func (c *Commit) status(e event.Event, in parsed) {
	name := Plain(in.Context, maxName)
	check := Check{State: "pending", Text: Plain(in.Description, maxTitle), By: e.Sender, At: in.UpdatedAt.UTC(), ID: in.ID}
	if check.At.IsZero() {
		check.At = e.ReceivedAt
	}
	switch in.State {
	case "success":
		check.State = "success"
	case "failure", "error":
		check.State = "failure"
	}
	if strings.HasPrefix(name, verdict.OwnStatuses) {
		keep(&c.Signs, name, check)
	} else {
		keep(&c.Checks, name, check)
	}
}

// run processes a check run.
func (c *Commit) run(in *payload.CheckRun, e event.Event) {
	check := Check{State: "pending", At: in.StartedAt.UTC(), Run: in.ID}
	if in.Status == "completed" {
		check.State = "failure"
		if slices.Contains([]string{"success", "neutral", "skipped"}, in.Conclusion) {
			check.State = "success"
		}
		check.Text = Plain(in.Conclusion, 40)
		if in.CompletedAt != nil {
			check.At = in.CompletedAt.UTC()
		}
	}
	if check.At.IsZero() {
		check.At = e.ReceivedAt
	}
	keep(&c.Checks, Plain(in.Name, maxName), check)
}

// keep keeps the newer of two checks of one name. A finished run does not become pending again. GitHub's times are
// whole seconds, and its events can come in another order: within a second the numbers of statuses decide.
func keep(all *map[string]Check, name string, check Check) {
	if *all == nil {
		*all = map[string]Check{}
	}
	old, known := (*all)[name]
	switch {
	case name == "" || known && check.Run < old.Run:
		return
	case known && check.Run == old.Run && cmp.Or(check.At.Compare(old.At), cmp.Compare(check.ID, old.ID)) < 0:
		return
	case known && check.Run != 0 && check.Run == old.Run && old.State != "pending" && check.State == "pending":
		return
	}
	(*all)[name] = check
	if len(*all) > maxChecks {
		delete(*all, leastTelling(*all))
	}
}

// leastTelling returns the name of the check that says the least about its commit: one that passed rather than one
// that is pending, one that is pending rather than one that failed, and of these the oldest.
func leastTelling(all map[string]Check) string {
	weight := map[string]int{"pending": 1, "failure": 2}
	return slices.MinFunc(slices.Sorted(maps.Keys(all)), func(a, b string) int {
		return cmp.Or(weight[all[a].State]-weight[all[b].State], all[a].At.Compare(all[b].At))
	})
}

// push adds the repairs among the commits of a push.
func (c *Commit) push(in parsed) {
	for _, o := range in.Commits {
		repair, ok := verdict.ParseRepair(o.Message)
		if !ok || len(c.Repairs) >= maxHeads || slices.ContainsFunc(c.Repairs, func(f Fix) bool { return f.SHA == o.ID }) {
			continue
		}
		c.Repairs = append(c.Repairs, Fix{SHA: Plain(o.ID, 64), At: o.Timestamp.UTC(), Message: verdict.Clip(o.Message, 4000),
			CostUSD: repair.Cost.USD, Time: repair.Cost.Time})
	}
}

// ci returns the state of all checks together: success, failure, pending or none, with the names of the checks
// that failed or are pending.
func (c *Commit) ci() (state string, failed, pending []string) {
	for name, check := range c.Checks {
		switch check.State {
		case "failure":
			failed = append(failed, name)
		case "pending":
			pending = append(pending, name)
		}
	}
	slices.Sort(failed)
	slices.Sort(pending)
	switch {
	case len(failed) > 0:
		return "failure", failed, pending
	case len(pending) > 0:
		return "pending", failed, pending
	case len(c.Checks) > 0:
		return "success", nil, nil
	}
	return "none", nil, nil
}

func fingerprint(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
