package dashboard

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"regexp"
	"strings"
	"time"

	"touchstone/relay/dashboard/projection"
	"touchstone/relay/event"
	"touchstone/verdict"
)

// functions are the functions that templates call.
var functions = template.FuncMap{
	"when": when, "stamp": stamp, "seconds": seconds, "money": money, "short": verdict.Short, "pullPath": pullPath,
	"workPath": workPath,
	"rulePath": rulePath, "settingKeys": event.SettingKeys,
	"file": staticPath, "bytes": size, "words": words, "percent": percent, "minus": func(a, b int) int { return a - b },
	"plus": func(a, b int) int { return a + b }, "share": share,
	"sentence": projection.Sentence, "plain": func(text string) string { return projection.Plain(text, 500) }, "join": strings.Join,
	"hasAddress":  func(endpoint string) bool { return strings.HasPrefix(endpoint, "https://ADDRESS/") },
	"isoDay":      func(t time.Time) string { return t.Format(time.DateOnly) },
	"bucketRange": bucketRange, "repoPart": repoPart, "turnName": turnName, "momentText": momentText,
	"thousands": thousands, "link": link, "list": func(items ...string) []string { return items },
}

// momentTexts say what happened at each moment that the board can be filtered by.
var momentTexts = map[projection.Moment]string{
	projection.Opened: "opened", projection.Answered: "opened, and have been reviewed since,", projection.Reviewed: "reviewed",
	projection.Found: "reviewed, with findings,", projection.Escalated: "passed on to a person", projection.Merged: "merged",
	projection.Unattended: "merged without a person",
}

// momentText returns what a board is filtered by, and the days.
func momentText(q projection.PullQuery) string {
	text, last := momentTexts[q.Moment], q.To.AddDate(0, 0, -1)
	if !last.After(q.From) {
		return text + " on " + q.From.Format(time.DateOnly)
	}
	return text + " from " + q.From.Format(time.DateOnly) + " to " + last.Format(time.DateOnly)
}

// pullPath returns the path of a pull request's page.
func pullPath(repo string, number int) string { return fmt.Sprintf("/pulls/%s/%d", repo, number) }

// pullName is how agents name a pull request.
var pullName = regexp.MustCompile(`^([\w.-]+/[\w.-]+)#([1-9]\d{0,9})$`)

// workPath returns the path of the page of the pull request that an agent names; empty if it names none.
func workPath(name string) string {
	parts := pullName.FindStringSubmatch(name)
	if parts == nil {
		return ""
	}
	return "/pulls/" + parts[1] + "/" + parts[2]
}

// when returns the time since a moment, which the page's script keeps up to date. The moment itself is the
// title.
func when(t, now time.Time) template.HTML {
	if t.IsZero() || t.Unix() <= 0 {
		return `<span class="none">–</span>`
	}
	t = t.UTC()
	// the values are only times, so this is safe HTML
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s" data-ago>%s</time>`, t.Format(time.RFC3339), stamp(t), span(now.Sub(t))))
}

// stamp formats a moment to the second.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// span formats a length of time in its largest unit. A clock that jumps does not make it negative.
func span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// seconds formats a length of time in two units.
func seconds(s float64) string {
	if s <= 0 || math.IsNaN(s) || s > 1e9 {
		return "–"
	}
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", math.Max(1, d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d %d h", int(d.Hours()/24), int(d.Hours())%24)
}

func money(usd float64) string {
	if usd == 0 {
		return "–"
	}
	return fmt.Sprintf("$%.2f", usd)
}

func size(n int64) string {
	switch {
	case n <= 0:
		return "–"
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// words turns an identifier such as pull_request into words.
func words(text string) string { return strings.NewReplacer("_", " ", "-", " ").Replace(text) }

func percent(part, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", (100*part+all/2)/all)
}

// share returns a part of a whole as a number from 0 to 100.
func share(part, all int) int {
	if all <= 0 {
		return 0
	}
	return max(0, min(100, 100*part/all))
}

// thousands formats a number so that people can read it.
func thousands(n int64) string {
	switch {
	case n == 0:
		return "–"
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 10_000_000:
		return fmt.Sprintf("%.0f k", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f M", float64(n)/1e6)
}

// bucketRange returns the query value that selects the pull requests of a bucket.
func bucketRange(t time.Time, bucket projection.Bucket) string {
	return t.Format(time.DateOnly) + ".." + bucket.Next(t).Format(time.DateOnly)
}

// repoPart returns the query part that selects a repository; empty for all.
func repoPart(repo string) template.URL {
	if repo == "" {
		return ""
	}
	return template.URL("&repo=" + url.QueryEscape(repo)) // escaped
}

func turnName(t verdict.Turn) string {
	return map[verdict.Turn]string{
		verdict.TurnPerson: "A person", verdict.TurnAuthor: "Author", verdict.TurnReviewer: "Reviewer", verdict.TurnCI: "CI",
		verdict.TurnNobody: "Done",
	}[t]
}

// link returns an address on the forge; empty if a browser should not follow it.
func link(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}
