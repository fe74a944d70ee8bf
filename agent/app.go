package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/forge"
	"touchstone/agent/setup/wizard"
	"touchstone/agent/version"
	"touchstone/worktree/span"
)

func newApp(s *cli.Settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "app",
		Short: "Let the reviewer act as a GitHub App instead of a machine user",
	}
	cmd.AddCommand(newAppCreate(s))
	return cmd
}

func newAppCreate(s *cli.Settings) *cobra.Command {
	var a wizard.App
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make the reviewer's GitHub App in the browser",
		Long: `create opens a page on this machine that sends your browser to GitHub. There you
confirm the App as described: its permissions, events and webhook. Then you
choose its repositories; create waits for that. The private key stays on this
machine, in a file next to agent.yaml that only you can read. create then sets
agent.yaml to act as the App.

With a relay, the App's webhook points to the relay, instead of one that
touchstone-relay hook install makes, and the relay is given the webhook's
secret. That needs an administrator's token in RELAY_TOKEN, which is not stored.

You can stop it at any time and start it again: it continues where it was.
GitHub cannot request a review from an App, so the App reviews every pull
request of its repositories. touchstone doctor says whether its approvals count
for a repository's rules.`,
		Example: `  touchstone app create --organization acme --repo acme/app
  RELAY_TOKEN=rly_… touchstone app create --organization acme`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := s.Load(cmd)
			if err != nil {
				return err
			}
			if cfg.Path() == "" {
				return errors.New("this user has no configuration directory; name a configuration file with --config")
			}
			a.Config, a.Dialog = cfg, cli.NewDialog(cmd)
			a.GitHub = forge.Config{APIURL: cfg.GitHub.APIURL, Version: version.String()}
			return a.Run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&a.Organization, "organization", "", "the organization that owns the App (default: the user who is signed in to GitHub)")
	flags.StringVar(&a.Name, "name", "", "the App's name, which must be unique on GitHub (default touchstone of the organization)")
	flags.BoolVar(&a.NoBrowser, "no-browser", false, "print the page's address instead of opening a browser")
	a.Wait = span.Duration(15 * time.Minute)
	flags.Var(&a.Wait, "wait", "how long to wait for what you do in the browser")
	return cmd
}
