package dashboard

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchstone/relay/dashboard/projection"
)

// ruleName matches the ids of guideline rows. Reviews may cite other texts as rules; those have no page.
var ruleName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}/[A-Za-z][A-Za-z0-9-]{0,31}$`)

// rulePath returns the path of a guideline row's page; empty if the rule is not a row's id.
func rulePath(rule string) string {
	if !ruleName.MatchString(rule) {
		return ""
	}
	return "/rules/" + rule
}

// rulePage is the content of the page of one guideline row.
type rulePage struct {
	Trends []projection.RuleTrend // newest first, those with findings
	Sum    projection.RuleTrend
	// Models and Versions are the choices for the query's Model and Guidelines.
	Models, Versions []string
	period
}

// readRule reads the trend of the row that a path names.
func (d *Dashboard) readRule(r *http.Request, viewer Viewer) (trends []projection.RuleTrend, a asked, err error) {
	rule := r.PathValue("rule")
	if !ruleName.MatchString(rule) {
		return nil, a, &refusal{http.StatusNotFound, "a rule's id has the form document/X1, such as security/S3"}
	}
	if a, err = d.askTrends(r, viewer, d.config.Projection.RulesSince); err != nil {
		return nil, a, err
	}
	a.Rule, a.Model, a.Guidelines = rule, a.values.Get("model"), a.values.Get("guidelines")
	trends, err = d.config.Projection.RuleTrends(r.Context(), a.RuleQuery, a.since, d.now())
	return trends, a, err
}

func (d *Dashboard) rule(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	trends, a, err := d.readRule(r, viewer)
	if err != nil {
		return err
	}
	models, versions, err := d.config.Projection.RuleVersions(r.Context(), a.RuleQuery, a.since)
	if err != nil {
		return err
	}
	p := rulePage{Sum: projection.SumRule(trends), Models: models, Versions: versions, period: d.period(r, viewer, a)}
	for _, t := range slices.Backward(trends) {
		if t.Fired > 0 {
			p.Trends = append(p.Trends, t)
		}
	}
	return d.show(w, r, viewer, "rule", "rules", "Rule "+a.Rule, p)
}

func (d *Dashboard) apiRule(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	trends, a, err := d.readRule(r, viewer)
	switch {
	case err != nil:
		return err
	case a.csv():
		return sendTable(w, r, strings.ReplaceAll(a.Rule, "/", "-"), ruleTable(trends))
	}
	return reply(w, r, http.StatusOK, struct {
		Rule    string                 `json:"rule"`
		Buckets []projection.RuleTrend `json:"buckets"`
		Bucket  projection.Bucket      `json:"bucket"`
		listed
	}{a.Rule, trends, a.Bucket, a.listed(viewer)})
}

func ruleTable(trends []projection.RuleTrend) [][]string {
	rows := [][]string{{"start", "fired", "held", "wrong", "not_known", "pulls"}}
	for _, t := range trends {
		var pulls []string
		for _, p := range t.Pulls {
			pulls = append(pulls, p.String())
		}
		rows = append(rows, []string{
			t.Start.Format(time.DateOnly), strconv.Itoa(t.Fired), strconv.Itoa(t.Held), strconv.Itoa(t.Wrong), strconv.Itoa(t.Unknown()),
			strings.Join(pulls, " "),
		})
	}
	return rows
}
