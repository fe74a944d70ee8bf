// Command standin takes one pull request of a local clone through the whole loop on a simulated
// GitHub, with a relay, both agents and the real claude CLI, while you, or another program, answer
// for the model.
package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/bounded"
	"touchstone/agent/engine/process"
	"touchstone/agent/impact/golang"
	"touchstone/agent/quality"
	"touchstone/scripts/command"
)

func main() {
	process.Bootstrap()
	bounded.Bootstrap(golang.Task, quality.Task)
	command.Run("standin", func(ctx context.Context) (bool, error) {
		err := new(options).command().ExecuteContext(ctx)
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return true, err
	})
}

// options are the options of the command line.
type options struct {
	clone, base, head, main string
	title, body             string
	allow                   []string
	verify, ci, cli, dir    string
	timeout                 time.Duration
}

func (o *options) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "standin --clone DIR --base COMMIT --head COMMIT --cli CLAUDE",
		Short: "Answer for the model while a pull request goes through the loop",
		Long: `Take one pull request of a local clone through the loop, and answer for the model: of the
reviewer's session and of the author's. Each request stands in DIR/asked/01/request.txt, and is
answered by DIR/asked/01/answer.txt, which has to appear as a whole. An answer is text, with lines
such as TOOL Read {"file_path": "/a/b"} for calls of tools; {{RUN}} in it becomes the RUN line of a
review. What the agents do is printed, their logs are in DIR.

The commits between base and head keep their messages, and the base those of the latest commits
before it. With --main, the base branch has moved on to that commit, such as one with which the head
conflicts. The program ends when the pull request is closed, and says what it took.`,
		Example: `  standin --clone ~/clones/app --base v1.2 --head topic --cli .tools/node_modules/.bin/claude
  standin --clone ~/clones/app --base 1a2b3c4 --head 5d6e7f8 --title 'Keep the order' \
    --verify 'go test -run "A|B,C" ./...' --ci 'go vet ./...' --allow 'go test *' --cli claude`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, path := range []*string{&o.clone, &o.dir} {
				var err error
				if *path, err = filepath.Abs(*path); err != nil {
					return err
				}
			}
			return o.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.clone, "clone", ".", "the local clone")
	flags.StringVar(&o.base, "base", "", "the commit on which the pull request builds")
	flags.StringVar(&o.head, "head", "", "the commit that it wants merged")
	flags.StringVar(&o.main, "main", "", "the commit that its base branch has (default --base)")
	flags.StringVar(&o.title, "title", "", "its title (default the subject of its first commit)")
	flags.StringVar(&o.body, "body", "", "its description")
	flags.StringVar(&o.verify, "verify", "", "shell command that is verify.command of the repository")
	flags.StringArrayVar(&o.allow, "allow", nil, "a pattern of commands that the author's session may run")
	flags.StringVar(&o.ci, "ci", "true", "shell command that decides the check of each head")
	flags.StringVar(&o.cli, "cli", "claude", "the claude CLI")
	flags.StringVar(&o.dir, "dir", "standin", "directory for requests, answers, logs and all else; it has to be new")
	flags.DurationVar(&o.timeout, "timeout", 3*time.Hour, "bound of the whole")
	for _, name := range []string{"base", "head"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is declared above
		}
	}
	return cmd
}
