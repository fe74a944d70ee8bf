// Command githubsim serves real bare repositories as a GitHub on loopback.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"touchstone/agent/githubsim"
	"touchstone/scripts/ci"
	"touchstone/scripts/command"
	"touchstone/worktree/atomicfile"
)

const long = `Serve bare git repositories as a GitHub that runs on this machine.

REST is at / and /api/v3/, GraphQL at /graphql and /api/graphql, git at
/OWNER/NAME.git. One token serves all three: as a bearer token, or as the
password of git with any user name. Pull requests, reviews and webhooks live in
memory and are gone when the simulator ends; commits and refs stay on disk.

The users file lists who may sign in, in JSON or YAML:

  - login: octocat
    token: author-secret
  - login: reviewer
    token: reviewer-secret
  - login: boss
    token: admin-secret
    admin: true

An app (app: true) may write check runs.`

const example = `  githubsim --repo ./repos --users users.yaml --ci 'go test ./...'
  githubsim --listen 127.0.0.1:8090 --repo acme/app.git --users users.yaml`

type options struct {
	listen, repo, users, ci, addressFile string
	ciTimeout                            time.Duration
}

func main() {
	command.Run("githubsim", func(ctx context.Context) (bool, error) { return true, newCommand().ExecuteContext(ctx) })
}

func newCommand() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: "githubsim --repo DIR --users FILE", Short: "A GitHub on loopback", Long: long, Example: example,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	flags.StringVar(&o.repo, "repo", "", "a bare repository .../OWNER/NAME.git, or a directory of OWNER/NAME.git")
	flags.StringVar(&o.users, "users", "", "file that lists the users and their tokens")
	flags.StringVar(&o.ci, "ci", "", "shell command that decides the check run of each new head, run in a checkout of it")
	flags.DurationVar(&o.ciTimeout, "ci-timeout", 2*time.Minute, "how long the command may take before the check run is timed_out")
	flags.StringVar(&o.addressFile, "address-file", "", "file to write the base URL to once it answers")
	for _, name := range []string{"repo", "users"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is declared above
		}
	}
	return cmd
}

func (o options) run(ctx context.Context, out io.Writer) error {
	users, err := readUsers(o.users)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen: %w; choose another --listen, or port 0 for a free one", err)
	}
	defer ln.Close()
	url := "http://" + ln.Addr().String()
	sim, done, err := o.open(ctx, url, users)
	if err != nil {
		return err
	}
	defer done()
	if o.addressFile != "" {
		if err := atomicfile.Write(o.addressFile, []byte(url+"\n")); err != nil {
			return fmt.Errorf("write --address-file: %w", err)
		}
	}
	fmt.Fprintf(out, "githubsim: %s serves %s\n", url, strings.Join(sim.Repos(), ", "))
	fmt.Fprintf(out, "  REST     %s/api/v3/\n  GraphQL  %s/api/graphql\n  git      %s/OWNER/NAME.git\n", url, url, url)
	for _, u := range users {
		fmt.Fprintf(out, "  user     %s\n", u.Login)
	}
	return sim.Serve(ctx, ln)
}

// open creates the simulator of --repo; done removes its temporary files.
func (o options) open(ctx context.Context, url string, users []githubsim.User) (sim *githubsim.Sim, done func(), err error) {
	repo, err := filepath.Abs(o.repo)
	if err != nil {
		return nil, nil, err
	}
	if info, err := os.Stat(repo); err != nil || !info.IsDir() {
		return nil, nil, fmt.Errorf("--repo %s is not a directory: name a bare repository, or a directory of OWNER/NAME.git", o.repo)
	}
	cfg := githubsim.Config{Dir: repo, URL: url, Users: users}
	if o.ci != "" {
		cfg.CI = ci.Command{Line: o.ci, Timeout: o.ciTimeout}.Run
	}
	_, err = os.Stat(filepath.Join(repo, "HEAD"))
	bare := err == nil
	done = func() {}
	if bare {
		if cfg.Dir, err = os.MkdirTemp("", "githubsim-"); err != nil {
			return nil, nil, err
		}
		done = func() { os.RemoveAll(cfg.Dir) }
	}
	if sim, err = githubsim.New(cfg); err != nil {
		done()
		return nil, nil, err
	}
	if bare {
		name := strings.TrimSuffix(filepath.Base(repo), ".git")
		err = sim.CreateRepo(ctx, githubsim.RepoOptions{Owner: filepath.Base(filepath.Dir(repo)), Name: name, Dir: repo})
	} else if len(sim.Repos()) == 0 {
		err = fmt.Errorf("--repo %s holds no OWNER/NAME.git: make one with `git init --bare`", o.repo)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return sim, done, nil
}

// maxUsers bounds the users file, in bytes.
const maxUsers = 1 << 16

func readUsers(path string) ([]githubsim.User, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read --users: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxUsers+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read --users: %w", err)
	case len(text) > maxUsers:
		return nil, fmt.Errorf("--users %s is larger than %d bytes: is it the right file?", path, maxUsers)
	}
	var users []githubsim.User
	if err := yaml.UnmarshalWithOptions(text, &users, yaml.Strict()); err != nil {
		// Without the offending lines, which contain tokens.
		return nil, fmt.Errorf("--users %s is not a list of login and token, see --help: %s", path, yaml.FormatError(err, false, false))
	}
	if len(users) == 0 {
		return nil, errors.New("--users lists nobody, so nobody could sign in; see --help")
	}
	return users, nil
}
