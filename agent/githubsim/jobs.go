package githubsim

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"touchstone/worktree/steps"
)

// logs is the path of the job logs, outside the API.
const logs = "/_sim/logs/"

// getJobLog redirects the client to the log. GitHub stores logs on other hosts; the simulator uses another name
// of its own host, and requires no token there.
// https://docs.github.com/en/rest/actions/workflow-jobs#download-job-logs-for-a-workflow-run
func (c *call) getJobLog(run *checkRun) reply {
	if run.suite.app != nil || run.status != "completed" {
		return fail(errNotFound)
	}
	place := steps.Got(url.Parse(c.sim.url))
	if place.Hostname() == "127.0.0.1" {
		place.Host = strings.Replace(place.Host, "127.0.0.1", "localhost", 1)
	}
	place.Path = fmt.Sprintf("%s%d", logs, run.id)
	return reply{status: http.StatusFound, location: place.String()}
}

// serveLog serves a log with a time before each line. Like GitHub's log store it refuses a request with a
// token.
func (s *Sim) serveLog(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		http.Error(w, "two ways to authenticate", http.StatusBadRequest)
		return
	}
	id := idOf(r.PathValue("run"))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, repo := range s.repos {
		if run := repo.run(id); run != nil {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			for line := range strings.Lines(run.log) {
				io.WriteString(w, run.completed.Format("2006-01-02T15:04:05.0000000Z ")+line)
			}
			return
		}
	}
	http.NotFound(w, r)
}

func (c *call) getAnnotations(run *checkRun) reply {
	return ok(each(page(c, run.annotations), func(a annotation) object {
		return object{
			"path": a.Path, "start_line": a.StartLine, "end_line": a.EndLine, "start_column": nil, "end_column": nil,
			"annotation_level": a.Level, "title": orNull(a.Title), "message": a.Message, "raw_details": nil,
			"blob_href": c.sim.url + "/" + c.repo.fullName() + "/blob/" + run.suite.sha + "/" + a.Path,
		}
	}))
}
