package dashboard

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
)

const (
	// beaconLife is how long an agent's report is kept.
	beaconLife = 90 * time.Second
	// maxMachines bounds how many agents are kept, maxMachinesPerToken how many with the same token.
	maxMachines         = 2000
	maxMachinesPerToken = 50
)

// Machine is an agent's report about itself, and when it arrived.
type Machine struct {
	event.Beacon
	// Token is the name of the agent's token, SeenAt the time of its last report, Behind the number of events
	// of the log that it has not seen; -1 if that is not known.
	Token  string    `json:"token"`
	SeenAt time.Time `json:"seen_at"`
	Behind int64     `json:"behind"`
}

// machines are the agents that reported within beaconLife.
type machines struct {
	mu    sync.Mutex
	known map[machineKey]Machine
	// said are the logins of all agents since the relay started, including those that are gone.
	said map[machineKey]string
}

type machineKey struct{ token, role, login string }

// errManyMachines refuses more agents than are kept.
var errManyMachines = errors.New("too many agents report to this relay, or too many with this access token; create one for each machine")

func (m *machines) put(key machineKey, machine Machine) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(machine.SeenAt)
	if _, there := m.known[key]; !there {
		same := 0
		for other := range m.known {
			if other.token == key.token {
				same++
			}
		}
		if same >= maxMachinesPerToken || len(m.known) >= maxMachines {
			return errManyMachines
		}
	}
	m.known[key] = machine
	if len(m.said) >= maxMachines {
		clear(m.said)
	}
	m.said[key] = machine.Login
	return nil
}

// logins returns the logins of the agents with a token: the login of the token's holder, and that of a
// reviewer that the holder runs.
func (m *machines) logins(token string) (logins []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, login := range m.said {
		if key.token == token {
			logins = append(logins, login)
		}
	}
	slices.Sort(logins)
	return slices.Compact(logins)
}

// drop removes agents whose last report is too old. The caller holds mu.
func (m *machines) drop(now time.Time) {
	maps.DeleteFunc(m.known, func(_ machineKey, machine Machine) bool { return now.Sub(machine.SeenAt) > beaconLife })
}

// list returns the agents whose work a viewer may see, with only that work: reviewers first, then by login.
func (m *machines) list(now time.Time, viewer Viewer, head event.Cursor) []Machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(now)
	list := []Machine{}
	for key, machine := range m.known {
		if len(viewer.Scope.Repos)+len(viewer.Scope.Sources) > 0 && key.token != viewer.Token {
			seen := slices.DeleteFunc(slices.Clone(machine.Work), func(w event.Work) bool { return !sees(viewer.Scope, w.Pull) })
			if len(seen) == 0 {
				continue
			}
			machine.Work, machine.Queued = seen, 0
		}
		machine.Behind = -1
		if at, err := event.ParseCursor(machine.Cursor); err == nil && at.Log == head.Log {
			machine.Behind = max(0, head.Seq-at.Seq)
		}
		list = append(list, machine)
	}
	slices.SortFunc(list, func(a, b Machine) int {
		return cmp.Or(-cmp.Compare(a.Role, b.Role), cmp.Compare(a.Login, b.Login), cmp.Compare(a.Token, b.Token))
	})
	return list
}

// sees reports whether a pull request such as acme/app#1 is within a scope. It ignores the scope's sources,
// because an agent does not report which source its repository belongs to.
func sees(scope event.Filter, pull string) bool {
	repo, _, _ := strings.Cut(pull, "#")
	return event.Filter{Repos: scope.Repos}.Match(event.Event{Repo: repo})
}

// putMachine stores an agent's report about itself, with the part of its work that its token covers.
func (d *Dashboard) putMachine(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, event.MaxBeaconBytes))
	if err != nil {
		return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the status of an agent must be at most %d bytes", event.MaxBeaconBytes)}
	}
	var machine Machine
	if err := json.Unmarshal(text, &machine); err != nil || machine.Role == "" || machine.Login == "" {
		return &refusal{http.StatusBadRequest, `the body is not the status of an agent; send {"role":"reviewer","login":"…",…}`}
	}
	machine.Token, machine.SeenAt, machine.Behind = viewer.Name, d.now().UTC(), -1
	for _, text := range []*string{&machine.Role, &machine.Login, &machine.Version, &machine.Engine, &machine.Model, &machine.Cursor} {
		*text = projection.Plain(*text, 100)
	}
	machine.Work = slices.DeleteFunc(append([]event.Work{}, machine.Work...), func(w event.Work) bool { return !sees(viewer.Scope, w.Pull) })
	for i := range machine.Work {
		work := &machine.Work[i]
		work.Pull, work.Act, work.Phase = projection.Plain(work.Pull, 250), projection.Plain(work.Act, 40), projection.Plain(work.Phase, 60)
	}
	machine.Resting = append([]string{}, machine.Resting...)
	for i := range machine.Resting {
		machine.Resting[i] = projection.Plain(machine.Resting[i], 100)
	}
	machine.Queued = max(0, machine.Queued)
	if err := d.machines.put(machineKey{viewer.Token, machine.Role, strings.ToLower(machine.Login)}, machine); err != nil {
		return &refusal{http.StatusTooManyRequests, err.Error()}
	}
	secure(w.Header())
	w.WriteHeader(http.StatusNoContent)
	return nil
}
