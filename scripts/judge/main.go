// Command judge measures reviews on real changes of other projects' repositories: how many known defects they
// find, how many good changes they block, and what they cost. It builds each case from a local clone, has
// `touchstone review --local` review it, and stores the answers, so that two versions of the guidelines can
// be compared case by case.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"touchstone/agent/config"
	"touchstone/scripts/byhand"
	"touchstone/scripts/command"
	"touchstone/worktree/steps"
)

func main() {
	command.Run("judge", func(ctx context.Context) (bool, error) { return true, newCommand().ExecuteContext(ctx) })
}

// options are the options of the command line.
type options struct {
	program, clones, cases, out, compare string
	engine, model, cli, byHand, only     string
	strategy, check                      string
	show                                 bool
}

func newCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "judge --clones DIR",
		Short: "Measure reviews on real changes",
		Long: `Measure reviews on real changes. A list of cases says of each change where it is, in which
direction it is reviewed, and what a review should say of it; without --cases it is the list that
comes with the program. The answers are kept in --out, and are not asked for again. No model is told
what it should say: below a case with a defect stands the sentence that names the defect, and the
findings at its place, so that a person can settle whether one of them names the cause.

With --by-hand a person or program answers for the model in files: each request of a case
stands in DIR/CASE/01/request.txt, and is answered by DIR/CASE/01/answer.txt, where CASE names
the repository and not the commit.`,
		Example: `  judge --clones ~/clones --engine claude --model opus --out before
  judge --clones ~/clones --engine claude --model opus --out after --compare before
  judge --clones ~/clones --model opus --strategy specialists --out specialists --compare after
  judge --clones ~/clones --model opus --check blocking --out blocking --compare after
  judge --clones ~/clones --cli .tools/node_modules/.bin/claude --by-hand /tmp/hand --only square/moshi`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.strategy != config.StrategySession && o.strategy != config.StrategySpecialists {
				return fmt.Errorf("--strategy is %q but must be session or specialists", o.strategy)
			}
			if o.check != config.Off && o.check != config.CheckCritical && o.check != config.CheckBlocking {
				return fmt.Errorf("--check is %q but must be off, critical or blocking", o.check)
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.program, "program", "bin/touchstone", "the program that reviews")
	flags.StringVar(&o.clones, "clones", "..", "directory of clones, each as OWNER/NAME, OWNER+NAME/repo or NAME")
	flags.StringVar(&o.cases, "cases", "", "list of cases in YAML (default the one that comes with this program)")
	flags.StringVar(&o.out, "out", "judged", "directory to keep the answers in")
	flags.StringVar(&o.compare, "compare", "", "directory of earlier answers to compare with, case by case")
	flags.StringVar(&o.engine, "engine", "claude", "engine.name of the review")
	flags.StringVar(&o.model, "model", "", "engine.model of the review")
	flags.StringVar(&o.strategy, "strategy", config.StrategySession, "review.strategy: session or specialists; give each an --out of its own")
	flags.StringVar(&o.check, "check", config.CheckCritical, "review.check: off, critical or blocking; give each an --out of its own")
	flags.StringVar(&o.cli, "cli", "", "the engine's program (default its name)")
	flags.StringVar(&o.byHand, "by-hand", "", "directory through which somebody answers for the model; the engine has to be claude")
	flags.StringVar(&o.only, "only", "", "only cases whose repository or commit contains this")
	flags.BoolVar(&o.show, "show-prompt", false, "print what a model would be told, and ask none")
	return cmd
}

func (o options) run(ctx context.Context) error {
	cases, err := readCases(o.cases)
	if err != nil {
		return err
	}
	for _, path := range []*string{&o.program, &o.clones, &o.out, &o.byHand, &o.cli} {
		if *path == "" || path == &o.cli && !strings.Contains(o.cli, "/") {
			continue // the name of a program is looked up in PATH
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(o.out, 0o700); err != nil {
		return err
	}
	var all []judged
	for _, c := range cases {
		if !strings.Contains(c.Repository+" "+c.Commit, o.only) {
			continue
		}
		j := judged{change: c}
		err := steps.Try(func() { j = o.judge(ctx, c) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			j.Error = err.Error()
		}
		if !o.show || j.Error != "" {
			fmt.Println(j.line())
			fmt.Print(j.beside())
		}
		all = append(all, j)
	}
	if o.show {
		return nil
	}
	fmt.Print(table(all))
	if o.compare == "" {
		return nil
	}
	return compare(os.Stdout, o.compare, all)
}

// judge returns the stored answer for a case, or has the case reviewed.
func (o options) judge(ctx context.Context, c change) judged {
	kept := filepath.Join(o.out, c.id()+".json")
	if text, err := os.ReadFile(kept); err == nil && !o.show {
		return steps.Got(read(c, text))
	}
	dir := steps.Got(os.MkdirTemp("", "judge-"))
	defer os.RemoveAll(dir)
	tree := filepath.Join(dir, filepath.Base(c.Repository))
	base := c.checkout(ctx, o.clones, tree, o.settings())
	text := o.review(ctx, c, dir, tree, base)
	if o.show {
		fmt.Print(string(text))
		return judged{change: c}
	}
	steps.Must(os.WriteFile(kept, text, 0o600))
	return steps.Got(read(c, text))
}

// settings returns the file with which a repository chooses how it is reviewed; none for the defaults.
func (o options) settings() map[string]string {
	if o.strategy == config.StrategySession && o.check == config.CheckCritical {
		return nil
	}
	return map[string]string{config.RepositoryPath: fmt.Sprintf("review:\n  strategy: %s\n  check: %q\n", o.strategy, o.check)}
}

// review has a checkout reviewed and returns the program's output. It adds the time and the number of tool
// calls, which the output lacks.
func (o options) review(ctx context.Context, c change, dir, tree, base string) []byte {
	engine := map[string]any{"name": o.engine, "model": o.model}
	if o.cli != "" {
		engine["command"] = []string{o.cli}
	}
	env := append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	hand := &byhand.Endpoint{Dir: filepath.Join(o.byHand, c.blind())}
	if o.byHand != "" {
		serving, stop := context.WithCancel(ctx)
		defer stop()
		env = append(env, steps.Got(hand.Serve(serving, byHandTimeout))...)
		engine["timeout"], engine["idle_timeout"] = byHandTimeout.String(), byHandTimeout.String()
	}
	settings := steps.Got(yaml.Marshal(map[string]any{"repositories": []string{c.Repository}, "reviewers": []string{"reviewer"},
		"engine": engine}))
	config := filepath.Join(dir, "agent.yaml")
	steps.Must(os.WriteFile(config, settings, 0o600))
	args := []string{"--config", config, "review", "--local", "--base", base, "--format", "json"}
	if o.show {
		args = append(args[:len(args)-2], "--show-prompt")
	}
	cmd := exec.CommandContext(ctx, o.program, args...)
	cmd.Dir, cmd.Env = tree, env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var failed strings.Builder
	cmd.Stderr = &failed
	began := time.Now()
	printed, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == requestChanges {
		err = nil
	}
	if err != nil {
		steps.Fail("%w: %s", err, strings.TrimSpace(failed.String()))
	}
	if o.show {
		return printed
	}
	a := answer{Seconds: time.Since(began).Seconds(), Tools: hand.Tools(), Says: c.says(), Review: printed}
	return steps.Got(json.MarshalIndent(a, "", "  "))
}

// byHandTimeout bounds how long an answer by files may take.
const byHandTimeout = 12 * time.Hour

// requestChanges is the exit code of a review that does not approve.
const requestChanges = 10
