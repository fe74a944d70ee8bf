package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/clone"
	"touchstone/agent/config"
	"touchstone/agent/daemon"
	"touchstone/agent/forge"
	"touchstone/agent/report"
	"touchstone/agent/reviewer"
	"touchstone/verdict"
	"touchstone/verdict/decide"
	"touchstone/verdict/guard"
)

func newCI(s *cli.Settings) *cobra.Command {
	var w workflow
	cmd := &cobra.Command{
		Use:   "ci guard|review",
		Short: "Run the guard or a review as a job of GitHub Actions",
		Long: `ci is what the action of this project runs. It reads of the pull request from the workflow's
event, prints annotations, adds to the job's summary, sets the step's outputs (verdict, findings,
sarif) and writes a SARIF file where --sarif says.

guard takes a clone that has the base and the change, and no secret. review takes a model and
GITHUB_TOKEN to read with; it posts nothing, so that the job's own check is what counts. A pull request
from a fork is not reviewed, since GitHub gives it no secrets, and neither runs on
pull_request_target, which would give it some.

Exit codes: 0 approved, nothing held, or a fork's review skipped, 10 changes requested or something
held, 20 the model did not finish, 2 the workflow or the configuration is wrong, 1 anything else.`,
		Example:   "  touchstone ci guard --sarif guard.sarif",
		ValidArgs: []string{"guard", "review"},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.getenv, w.out = os.Getenv, cmd.OutOrStdout()
			if err := w.read(); err != nil {
				return cli.Usage(cmd, err)
			}
			if args[0] == "guard" {
				return w.guard(cmd.Context())
			}
			return w.review(cmd, s)
		},
	}
	cmd.Flags().StringVar(&w.base, "base", "", "with guard: branch or commit to compare with (default: the base of the event)")
	cmd.Flags().BoolVar(&w.all, "all", false, "with guard: show evidence as well as holds")
	cmd.Flags().StringVar(&w.sarif, "sarif", "", "write what is found as SARIF to this `file`")
	return cmd
}

// maxEvent and maxSummary bound, in bytes, what a workflow's event may hold, and what GitHub takes as a step's summary
// (https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#step-isolation-and-limits).
const (
	maxEvent   = 32 << 20
	maxSummary = 1 << 20
)

// workflow is a job of GitHub Actions that this runs in
// (https://docs.github.com/en/actions/reference/workflows-and-actions/variables).
type workflow struct {
	getenv      func(string) string
	out         io.Writer
	base, sarif string
	all         bool

	repository string
	event      struct {
		PullRequest *struct {
			Number int
			Base   struct{ SHA string }
			Head   struct {
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

// read reads the event that the workflow runs for.
func (w *workflow) read() error {
	if w.getenv("GITHUB_ACTIONS") != "true" {
		return errors.New("this is no job of GitHub Actions: use touchstone guard, or touchstone review")
	}
	w.repository = w.getenv("GITHUB_REPOSITORY")
	if name := w.getenv("GITHUB_EVENT_NAME"); name == "pull_request_target" || name == "workflow_run" {
		return fmt.Errorf("this workflow runs on %s, where a fork's change is given the repository's secrets: have it run on pull_request", name)
	}
	file, err := os.Open(w.getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return fmt.Errorf("read the workflow's event: %w", err)
	}
	defer file.Close()
	if err := json.NewDecoder(io.LimitReader(file, maxEvent)).Decode(&w.event); err != nil {
		return fmt.Errorf("read the workflow's event: %w", err)
	}
	w.base = cmp.Or(w.base, w.event.MergeGroup.BaseSHA)
	if pull := w.event.PullRequest; pull != nil {
		w.base = cmp.Or(w.base, pull.Base.SHA)
	}
	return nil
}

// guard runs the guard on the commit that is checked out.
func (w *workflow) guard(ctx context.Context) error {
	if w.base == "" {
		return config.Mistake{Err: errors.New("the workflow's event names no base: run it on pull_request or merge_group, or say --base REV")}
	}
	change, err := clone.Change(ctx, w.base, true)
	if err != nil {
		return err
	}
	found := guard.Examine(change)
	holds := guard.Holds(found)
	shown := holds
	if w.all {
		shown = found
	}
	v := verdict.Approve
	if len(holds) > 0 {
		v = verdict.RequestChanges
	}
	text := "Nothing here certainly lowers the quality bar."
	if len(holds) > 0 {
		text = fmt.Sprintf("%s: take them back, or let a person approve them.", verdict.Amount(len(holds), "hold", "holds"))
	}
	if more := len(found) - len(shown); more > 0 {
		text += fmt.Sprintf(" %d more could lower it.", more)
	}
	err = errors.Join(report.PrintAnnotations(w.out, shown), w.summarize("touchstone guard", text+"\n\n"+table(shown)),
		w.write(func(out io.Writer) error { return report.PrintJSON(out, report.GuardSARIF(shown)) }), w.output(string(v), len(shown)))
	if err != nil {
		return err
	}
	fmt.Fprintln(w.out, text)
	return cli.VerdictExit(v)
}

// table lists findings of the guard in Markdown.
func table(found []guard.Finding) string {
	if len(found) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("| | where | what | rule |\n| --- | --- | --- | --- |\n")
	cell := strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "`", "'", "<", "&lt;")
	for _, f := range found {
		fmt.Fprintf(&text, "| %s | `%s` | %s | %s |\n", f.Tier, cell.Replace(verdict.Place(f.Path, f.Line)), cell.Replace(f.Why), f.Rule)
	}
	return text.String()
}

// skipped is the output of a review that is not made.
const skipped = "SKIPPED"

// review has a session review the pull request, and posts nothing.
func (w *workflow) review(cmd *cobra.Command, s *cli.Settings) error {
	pull := w.event.PullRequest
	if pull == nil {
		return config.Mistake{Err: errors.New("the workflow's event is about no pull request: run it on pull_request")}
	}
	if pull.Head.Repo == nil || !strings.EqualFold(pull.Head.Repo.FullName, w.repository) {
		const why = "The pull request comes from a fork, which gets no secrets: it is not reviewed here."
		fmt.Fprintf(w.out, "::notice title=touchstone::%s\n", why)
		return errors.Join(w.summarize("touchstone review", why), w.output(skipped, 0))
	}
	err := s.Once(cmd, fmt.Sprintf("%s#%d", w.repository, pull.Number), decide.Reviewer,
		func(ctx context.Context, a *daemon.Agent, pr forge.PullRequest) error {
			outcome, err := a.Reviewer.Review(ctx, pr, reviewer.Options{DryRun: true, Allowance: daemon.Round(a.Config())})
			if err != nil {
				return cli.Inconclusive(err)
			}
			return w.report(report.New(pr.Ref.String(), outcome))
		})
	var coded cli.Exit
	if errors.As(err, &coded) && coded.Code == cli.ExitInconclusive {
		text := "The model did not finish, so there is no verdict."
		fmt.Fprintf(w.out, "::error title=touchstone::%s\n", text)
		err = errors.Join(err, w.summarize("touchstone review", text), w.output("INCONCLUSIVE", 0))
	}
	return err
}

// report shows a review.
func (w *workflow) report(r report.Review) error {
	findings := r.Findings()
	for _, f := range findings {
		level := "warning"
		switch f.Severity {
		case verdict.Critical, verdict.Major:
			level = "error"
		case verdict.Nit:
			level = "notice"
		}
		if err := report.Annotate(w.out, level, f.Path, f.Line, f.Rule, string(f.Severity)+": "+f.Claim); err != nil {
			return err
		}
	}
	for _, h := range r.Judgement.Holds {
		title, text := cmp.Or(h.Rule, string(h.Kind)), h.Detail+" Only a person can let this pass."
		if err := report.Annotate(w.out, "error", h.Path, h.Line, title, text); err != nil {
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
func (w *workflow) summarize(title, text string) error {
	text = fmt.Sprintf("## %s\n\n%s\n", title, strings.TrimSpace(text))
	if len(text) > maxSummary/2 {
		text = strings.ToValidUTF8(text[:maxSummary/2], "") + "\n\n… the rest is in the log and in the SARIF file\n"
	}
	return w.add("GITHUB_STEP_SUMMARY", text)
}

// output sets the step's outputs.
func (w *workflow) output(verdict string, findings int) error {
	path := w.sarif
	if _, err := os.Stat(path); err != nil {
		path = ""
	}
	if strings.ContainsAny(path, "\r\n") {
		return errors.New("--sarif names a file with a line break, which an output of a step cannot hold")
	}
	return w.add("GITHUB_OUTPUT", fmt.Sprintf("verdict=%s\nfindings=%d\nsarif=%s\n", verdict, findings, path))
}

// write writes the SARIF file, if one is wanted.
func (w *workflow) write(print func(io.Writer) error) error {
	if w.sarif == "" {
		return nil
	}
	file, err := os.Create(w.sarif)
	if err != nil {
		return fmt.Errorf("write the SARIF file: %w", err)
	}
	return errors.Join(print(file), file.Close())
}

// add adds to a file of the runner's that a variable names; none is none to add to.
func (w *workflow) add(variable, text string) error {
	path := w.getenv(variable)
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
