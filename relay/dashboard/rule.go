package dashboard

import (
	"encoding/csv"
	"net/http"
	"net/url"
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
	Rule     string
	Trends   []projection.RuleTrend // newest first, those with findings
	Sum      projection.RuleTrend
	Bucket   projection.Bucket
	API, CSV string
	// Model and Guidelines are the selected model and version. Models and Versions are the choices.
	Model, Guidelines string
	Models, Versions  []string
	period
}

func ruleQuery(rule string, bucket projection.Bucket, values url.Values, viewer Viewer) projection.RuleQuery {
	return projection.RuleQuery{Scope: viewer.Scope, Repo: values.Get("repo"), Rule: rule, Model: values.Get("model"),
		Guidelines: values.Get("guidelines"), Bucket: bucket}
}

func (d *Dashboard) rule(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	rule, values := r.PathValue("rule"), r.URL.Query()
	if !ruleName.MatchString(rule) {
		return &refusal{http.StatusNotFound, noRule}
	}
	since, bucket, err := d.trendQuery(values)
	if err != nil {
		return invalid(err)
	}
	trends, err := d.config.Projection.RuleTrends(r.Context(), ruleQuery(rule, bucket, values, viewer), since, d.now())
	if err != nil {
		return err
	}
	known, err := d.config.Projection.RulesSince(r.Context())
	if err != nil {
		return err
	}
	models, versions, err := d.config.Projection.RuleVersions(r.Context(), viewer.Scope, values.Get("repo"), rule, since)
	if err != nil {
		return err
	}
	api := "/api/v1/rules/" + rule
	p := rulePage{
		Rule: rule, Sum: projection.SumRule(trends), Bucket: bucket, API: api + with(values), CSV: api + with(values, "format", "csv"),
		Model: values.Get("model"), Guidelines: values.Get("guidelines"), period: d.period(values, viewer, since, known),
		Models: models, Versions: versions,
	}
	for _, t := range slices.Backward(trends) {
		if t.Fired > 0 {
			p.Trends = append(p.Trends, t)
		}
	}
	return d.show(w, r, viewer, "rule", "rules", "Rule "+rule, p)
}

// noRule says what the id of a row looks like.
const noRule = "a rule's id has the form document/X1, such as security/S3"

func (d *Dashboard) apiRule(w http.ResponseWriter, r *http.Request, viewer Viewer) error {
	rule, values := r.PathValue("rule"), r.URL.Query()
	if !ruleName.MatchString(rule) {
		return &refusal{http.StatusNotFound, noRule}
	}
	since, bucket, err := d.trendQuery(values)
	if err != nil {
		return invalid(err)
	}
	trends, err := d.config.Projection.RuleTrends(r.Context(), ruleQuery(rule, bucket, values, viewer), since, d.now())
	if err != nil {
		return err
	}
	name, table := strings.ReplaceAll(rule, "/", "-"), func() []byte { return ruleCSV(trends) }
	return d.statistics(w, r, d.config.Projection.RulesSince, name, table, func(said listed) any {
		return struct {
			Rule    string                 `json:"rule"`
			Buckets []projection.RuleTrend `json:"buckets"`
			Bucket  projection.Bucket      `json:"bucket"`
			listed
		}{rule, trends, bucket, said}
	})
}

func ruleCSV(trends []projection.RuleTrend) []byte {
	var b strings.Builder
	out := csv.NewWriter(&b)
	_ = out.Write([]string{"start", "fired", "held", "wrong", "not_known", "pulls"}) // to memory, which never fails
	for _, t := range trends {
		var pulls []string
		for _, p := range t.Pulls {
			pulls = append(pulls, p.String())
		}
		_ = out.Write([]string{
			t.Start.Format(time.DateOnly), strconv.Itoa(t.Fired), strconv.Itoa(t.Held), strconv.Itoa(t.Wrong), strconv.Itoa(t.Unknown()),
			strings.Join(pulls, " "),
		})
	}
	out.Flush()
	return []byte(b.String())
}
