// Package workflow runs the guard or a review as a job of GitHub Actions, and shows there what they find.
package workflow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/clone"
	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/pull"
	"touchstone/agent/quality"
	"touchstone/agent/report"
	"touchstone/agent/reviewer"
	"touchstone/agent/worker"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/verdict/guard"
)

// maxEvent and maxSummary bound, in bytes, what a workflow's event may hold, and what GitHub takes as a step's summary
// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#step-isolation-and-limits).
const (
	maxEvent   = 32 << 20
	maxSummary = 1 << 20
)

// Job is a job of GitHub Actions that this runs in
// (https://docs.github.com/en/actions/reference/workflows-and-actions/variables).
type Job struct {
	// Getenv reads the job's environment; Out is its log.
	Getenv func(string) string
	Out    io.Writer
	// Base is what the guard compares with, empty for the event's; SARIF is the file to write, empty for none.
	Base, SARIF string
	// All shows evidence as well as holds.
	All bool

	repository string
	event      struct {
		PullRequest *struct {
			Number int
			Base   struct{ SHA string }
			Head   struct {
				SHA  string
				Repo *struct {
					FullName string `json:"full_name"`
				}
			}
		} `json:"pull_request"`
		MergeGroup struct {
			BaseSHA string `json:"base_sha"`
		} `json:"merge_group"`
	}
}

// Read reads the event that the workflow runs for.
func (w *Job) Read() error {
	if w.Getenv("GITHUB_ACTIONS") != "true" {
		return errors.New("this is not a job of GitHub Actions: use touchstone guard, or touchstone review")
	}
	w.repository = w.Getenv("GITHUB_REPOSITORY")
	if name := w.Getenv("GITHUB_EVENT_NAME"); name == "pull_request_target" || name == "workflow_run" {
		return fmt.Errorf("this workflow runs on %s, where a fork's change gets the repository's secrets: run it on pull_request", name)
	}
	file, err := os.Open(w.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return fmt.Errorf("read the workflow's event: %w", err)
	}
	defer file.Close()
	if err := json.NewDecoder(io.LimitReader(file, maxEvent)).Decode(&w.event); err != nil {
		return fmt.Errorf("read the workflow's event: %w", err)
	}
	w.Base = cmp.Or(w.Base, w.event.MergeGroup.BaseSHA)
	return nil
}

// Guard runs the guard on the commit that is checked out.
func (w *Job) Guard(ctx context.Context) error {
	pull := w.event.PullRequest
	if w.Base == "" && pull == nil {
		return config.Mistake{Err: errors.New("the workflow's event names no base: run it on pull_request or merge_group, or give --base REV")}
	}
	c, err := clone.Open(ctx)
	if err != nil {
		return err
	}
	base := w.Base
	if base == "" {
		base = c.Merged(ctx, pull.Base.SHA, pull.Head.SHA)
	}
	change, err := c.Change(ctx, base, true)
	if err != nil {
		return err
	}
	found, err := quality.Examine(ctx, change)
	if err != nil {
		return err
	}
	holds := guard.Holds(found)
	shown := holds
	if w.All {
		shown = found
	}
	v := verdict.Approve
	if len(holds) > 0 {
		v = verdict.RequestChanges
	}
	text := "Nothing here certainly lowers the quality bar."
	if len(holds) > 0 {
		text = fmt.Sprintf("%s: undo them, or have a person approve them.", verdict.Amount(len(holds), "hold", "holds"))
	}
	if more := len(found) - len(shown); more > 0 {
		text += fmt.Sprintf(" %d more could lower it.", more)
	}
	err = errors.Join(report.PrintAnnotations(w.Out, shown), w.summarize("touchstone guard", text+"\n\n"+table(shown)),
		w.write(func(out io.Writer) error { return report.PrintJSON(out, report.GuardSARIF(shown)) }), w.output(string(v), len(shown)))
	if err != nil {
		return err
	}
	fmt.Fprintln(w.Out, text)
	return cli.VerdictExit(v)
}

// table lists findings of the guard in Markdown.
func table(found []guard.Finding) string {
	if len(found) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("| | where | what | rule |\n| --- | --- | --- | --- |\n")
	cell := strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "`", "'")
	markup := strings.NewReplacer("<", "&lt;", "[", `\[`) // code of the change that is quoted links nowhere and shows no picture
	for _, f := range found {
		fmt.Fprintf(&text, "| %s | `%s` | %s | %s |\n", f.Tier, cell.Replace(verdict.Place(f.Path, f.Line)),
			markup.Replace(cell.Replace(f.Message())), f.Rule)
	}
	return text.String()
}

// skipped is the output of a review that is not made.
const skipped = "SKIPPED"

// Review has a session review the pull request, and posts nothing.
func (w *Job) Review(cmd *cobra.Command, s *cli.Settings) error {
	request := w.event.PullRequest
	if request == nil {
		return config.Mistake{Err: errors.New("the workflow's event is about no pull request: run it on pull_request")}
	}
	if request.Head.Repo == nil || !strings.EqualFold(request.Head.Repo.FullName, w.repository) {
		const why = "The pull request comes from a fork, which gets no secrets: it is not reviewed here."
		fmt.Fprintf(w.Out, "::notice title=touchstone::%s\n", why)
		return errors.Join(w.summarize("touchstone review", why), w.output(skipped, 0))
	}
	err := s.Once(cmd, fmt.Sprintf("%s#%d", w.repository, request.Number), decide.Reviewer, false,
		func(ctx context.Context, a *worker.Agent, pr forge.PullRequest) error {
			outcome, err := a.Reviewer.Review(ctx, pr, reviewer.Options{DryRun: true, Allowance: pull.BudgetsOf(a.Config()).Round})
			if err != nil {
				return cli.Inconclusive(err)
			}
			return w.report(report.New(pr.Ref.String(), outcome))
		})
	if coded, ok := errors.AsType[cli.Exit](err); ok && coded.Code == cli.ExitInconclusive {
		text := "The model did not finish, so there is no verdict."
		fmt.Fprintf(w.Out, "::error title=touchstone::%s\n", text)
		err = errors.Join(err, w.summarize("touchstone review", text), w.output("INCONCLUSIVE", 0))
	}
	return err
}

// report shows a review.
func (w *Job) report(r report.Review) error {
	findings := r.Findings()
	for _, f := range findings {
		level := "warning"
		switch f.Severity {
		case verdict.Critical, verdict.Major:
			level = "error"
		case verdict.Nit:
			level = "notice"
		}
		if err := report.Annotate(w.Out, level, f.Path, f.Line, f.Rule, string(f.Severity)+": "+f.Claim); err != nil {
			return err
		}
	}
	for _, h := range r.Judgement.Holds {
		title, text := cmp.Or(h.Rule, string(h.Kind)), h.Detail+" Only a person can let this pass."
		if err := report.Annotate(w.Out, "error", h.Path, h.Line, title, text); err != nil {
			return err
		}
	}
	v := r.Judgement.Verdict
	if err := errors.Join(w.summarize("touchstone review", r.Markdown), w.write(r.SARIF), w.output(string(v), len(findings))); err != nil {
		return err
	}
	return cli.VerdictExit(v)
}

// summarize adds to the step's summary.
func (w *Job) summarize(title, text string) error {
	text = fmt.Sprintf("## %s\n\n%s\n", title, strings.TrimSpace(text))
	if len(text) > maxSummary/2 {
		text = strings.ToValidUTF8(text[:maxSummary/2], "") + "\n\n… the rest is in the log and in the SARIF file\n"
	}
	return w.add("GITHUB_STEP_SUMMARY", text)
}

// output sets the step's outputs.
func (w *Job) output(verdict string, findings int) error {
	path := w.SARIF
	if _, err := os.Stat(path); err != nil {
		path = ""
	}
	if strings.ContainsAny(path, "\r\n") {
		return errors.New("--sarif names a file with a line break, which a step's output cannot contain")
	}
	return w.add("GITHUB_OUTPUT", fmt.Sprintf("verdict=%s\nfindings=%d\nsarif=%s\n", verdict, findings, path))
}

// write writes the SARIF file, if one is wanted. A link of that name, which the pull request may have
// put there, is replaced and not followed.
func (w *Job) write(print func(io.Writer) error) error {
	if w.SARIF == "" {
		return nil
	}
	if err := os.Remove(w.SARIF); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write the SARIF file: %w", err)
	}
	file, err := os.OpenFile(w.SARIF, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("write the SARIF file: %w", err)
	}
	return errors.Join(print(file), file.Close())
}

// add adds to a file of the runner's that a variable names; none is none to add to.
func (w *Job) add(variable, text string) error {
	path := w.Getenv(variable)
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write to the file that %s names: %w", variable, err)
	}
	_, err = io.WriteString(file, text)
	return errors.Join(err, file.Close())
}
