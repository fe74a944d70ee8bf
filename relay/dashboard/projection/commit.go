package projection

import (
	"cmp"
	"fmt"
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
	// Checks are by name, App and check suite; statuses by name alone.
	Checks map[string]Check `json:"checks,omitempty"`
	// Workflows are what the check suites of workflows run, as far as GitHub has told.
	Workflows map[int64]string `json:"workflows,omitempty"`
	// Signs are the agents' own statuses, by context.
	Signs map[string]Check `json:"signs,omitempty"`
	// Repairs are the commits of the author's agent in the push that brought this commit.
	Repairs []Fix `json:"repairs,omitempty"`
}

// Check is the newest status of its name, or the newest check run of its name in its check suite.
type Check struct {
	Name  string    `json:"name"`
	State string    `json:"state"` // success, failure or pending
	Text  string    `json:"text,omitempty"`
	By    string    `json:"by,omitempty"`
	At    time.Time `json:"at"`
	// Run is the number of the check run; a later run has a greater number.
	Run int64 `json:"run,omitempty"`
	// ID is the number of the status; a later status has a greater number.
	ID int64 `json:"id,omitempty"`
	// App and Suite say which App made the check run, and in which check suite.
	App   string `json:"app,omitempty"`
	Suite int64  `json:"suite,omitempty"`
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

// onCommit returns the name of the commit that an event is about, and what the event changes of it; "" if it is about none.
func onCommit(e event.Event, in parsed) (sha string, apply func(*Commit)) {
	switch {
	case e.Type == "status":
		sha, apply = in.SHA, func(c *Commit) { c.status(e, in) }
	case e.Type == "check_run" && in.CheckRun != nil:
		sha, apply = in.CheckRun.HeadSHA, func(c *Commit) { c.run(in.CheckRun, e) }
	case e.Type == "workflow_run":
		sha, apply = in.WorkflowRun.HeadSHA, func(c *Commit) { c.workflow(in.WorkflowRun) }
	case e.Type == "push":
		sha, apply = in.After, func(c *Commit) { c.push(in) }
	}
	return Plain(sha, 64), apply
}

// status processes a commit status.
func (c *Commit) status(e event.Event, in parsed) {
	name := Plain(in.Context, maxName)
	check := Check{Name: name, State: "pending", Text: Plain(in.Description, maxTitle), By: e.Sender, At: in.UpdatedAt.UTC(), ID: in.ID}
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
	check := Check{Name: Plain(in.Name, maxName), State: "pending", At: in.StartedAt.UTC(), Run: in.ID, App: Plain(in.App.Slug, maxName),
		Suite: in.Suite.ID}
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
	keep(&c.Checks, fmt.Sprintf("%s\n%s\n%d", check.Name, check.App, check.Suite), check)
}

// workflow processes a run of a workflow. Each manual run is one of its own, which has inputs of its own.
func (c *Commit) workflow(in payload.Workflow) {
	if in.Suite <= 0 || in.ID <= 0 || len(c.Workflows) >= maxChecks {
		return
	}
	if c.Workflows == nil {
		c.Workflows = map[int64]string{}
	}
	c.Workflows[in.Suite] = fmt.Sprintf("%d %s", in.ID, Plain(in.Event, maxName))
	if strings.HasSuffix(in.Event, "_dispatch") {
		c.Workflows[in.Suite] += fmt.Sprintf(" %d", in.Suite)
	}
}

// join adds what is known of the same commit under another name of its repository.
func (c *Commit) join(other *Commit) {
	for key, check := range other.Checks {
		keep(&c.Checks, key, check)
	}
	for key, sign := range other.Signs {
		keep(&c.Signs, key, sign)
	}
	for suite, runs := range other.Workflows {
		if c.Workflows == nil {
			c.Workflows = map[int64]string{}
		}
		c.Workflows[suite] = runs
	}
	for _, fix := range other.Repairs {
		c.repair(fix)
	}
}

// current returns the checks that count, by name. When a workflow runs again for a commit, as when a title was edited,
// its later jobs stand for the earlier ones of their names, but a skipped one does not.
func (c *Commit) current() (list []Check) {
	named := map[string][]Check{}
	for _, check := range c.Checks {
		named[check.Name] = append(named[check.Name], check)
	}
	for _, same := range named {
		for _, check := range same {
			if !slices.ContainsFunc(same, func(later Check) bool { return c.replaces(later, check) }) {
				list = append(list, check)
			}
		}
	}
	slices.SortFunc(list, func(a, b Check) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Run, b.Run)) })
	return list
}

// replaces reports whether a check run stands for an earlier one of its name in another check suite. Of suites whose workflows GitHub
// has not told, the later one does.
func (c *Commit) replaces(later, earlier Check) bool {
	if later.App != earlier.App || earlier.Run == 0 || later.Run <= earlier.Run {
		return false
	}
	a, b := c.Workflows[later.Suite], c.Workflows[earlier.Suite]
	return (a == b || a == "" || b == "") && later.Text != "skipped" && later.Text != "neutral"
}

// keep keeps the newer of two checks of one name. A finished run does not become pending again. GitHub's times are
// whole seconds, and its events can come in another order: within a second the numbers of statuses decide.
func keep(all *map[string]Check, key string, check Check) {
	if *all == nil {
		*all = map[string]Check{}
	}
	old, known := (*all)[key]
	switch {
	case check.Name == "" || known && check.Run < old.Run:
		return
	case known && check.Run == old.Run && cmp.Or(check.At.Compare(old.At), cmp.Compare(check.ID, old.ID)) < 0:
		return
	case known && check.Run != 0 && check.Run == old.Run && old.State != "pending" && check.State == "pending":
		return
	}
	(*all)[key] = check
	if len(*all) > maxChecks {
		delete(*all, leastTelling(*all))
	}
}

// leastTelling returns the key of the check that says the least about its commit: one that passed rather than one
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
		if ok {
			c.repair(Fix{SHA: Plain(o.ID, 64), At: o.Timestamp.UTC(), Message: verdict.Clip(o.Message, 4000),
				CostUSD: repair.Cost.USD, Time: repair.Cost.Time})
		}
	}
}

func (c *Commit) repair(fix Fix) {
	if len(c.Repairs) < maxHeads && !slices.ContainsFunc(c.Repairs, func(f Fix) bool { return f.SHA == fix.SHA }) {
		c.Repairs = append(c.Repairs, fix)
	}
}

// ci returns the state of all checks together: success, failure, pending or none, with the names of the checks
// that failed or are pending.
func (c *Commit) ci() (state string, failed, pending []string) {
	for _, check := range c.current() {
		switch check.State {
		case "failure":
			failed = append(failed, check.Name)
		case "pending":
			pending = append(pending, check.Name)
		}
	}
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
