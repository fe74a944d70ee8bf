package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/forge"
	"touchstone/agent/setup/wizard"
	"touchstone/agent/version"
)

func newApp(s *cli.Settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "app",
		Short: "Let the reviewer act as a GitHub App instead of a machine user",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAppCreate(s))
	return cmd
}

func newAppCreate(s *cli.Settings) *cobra.Command {
	var a wizard.App
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make the reviewer's GitHub App in the browser",
		Long: `create opens a page on this machine that takes your browser to GitHub, where you
agree to the App as it is described: its permissions, events and webhook. Then
you choose its repositories, which this waits for. The private key stays on this
machine, in a file beside agent.yaml that only you can read; agent.yaml is told
to act as the App from then on.

With a relay, the App's webhook leads there, in place of touchstone-relay hook
install, and the relay is given its secret. That takes an administrator's token
in RELAY_TOKEN, which is not kept.

It can be broken off at any time and begun again: it goes on from where it was.
Nobody can ask an App for its review, so that it reviews every pull request of
its repositories. Whether its approvals count for a repository's rules is told
by touchstone doctor.`,
		Example: `  touchstone app create --organization acme --repo acme/app
  RELAY_TOKEN=rly_… touchstone app create --organization acme`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := s.Load(cmd)
			if err != nil {
				return err
			}
			if cfg.Path() == "" {
				return errors.New("this user has no place for a configuration; name one with --config")
			}
			a.Config, a.Dialog = cfg, cli.NewDialog(cmd)
			a.GitHub = forge.Config{APIURL: cfg.GitHub.APIURL, Version: version.String()}
			return a.Run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&a.Organization, "organization", "", "the organization whose App it is to be (default: who is signed in to GitHub)")
	flags.StringVar(&a.Name, "name", "", "what the App is called on GitHub, which has each name once (default touchstone of the organization)")
	flags.BoolVar(&a.NoBrowser, "no-browser", false, "only print the page's address, and open no browser")
	a.Wait = cli.Span(15 * time.Minute)
	flags.Var(&a.Wait, "wait", "how long to wait for what you do in the browser")
	return cmd
}
