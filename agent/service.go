package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/setup"
	"touchstone/agent/setup/wizard"
	"touchstone/verdict/decide"
)

func newService(s *cli.Settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Run an agent as a service: install, uninstall, status, logs",
		Long: `service makes the operating system run an agent in your own session: it starts
when you log in and restarts when it fails, and its log is where the platform
keeps logs. It is a systemd user unit on Linux, a launchd agent on macOS and a
scheduled task on Windows.

If only this shell has a key of the model's provider, such as ANTHROPIC_API_KEY,
the key is stored for the service in the file model-keys next to agent.yaml,
which only you can read. The environment overrides the file.

On a Linux machine where nobody logs in, run loginctl enable-linger once, as the
user who runs the agent.`,
		Example: "  touchstone service install --mode author\n  touchstone service logs --mode author -f",
	}
	var mode string
	cmd.PersistentFlags().StringVar(&mode, "mode", "", modeHelp)
	about := func(use, short string, do func(cmd *cobra.Command, found setup.Service) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short,
			RunE: func(cmd *cobra.Command, _ []string) error {
				found, err := serviceOf(s, cmd, mode)
				if err != nil {
					return err
				}
				return do(cmd, found)
			},
		}
	}
	var follow bool
	logs := about("logs", "Show what the agent has logged", func(cmd *cobra.Command, found setup.Service) error {
		return showLogs(cmd, found, follow)
	})
	bindFollow(logs, &follow)
	cmd.AddCommand(
		about("install", "Start the agent now and at each login; repeat to apply changes",
			func(cmd *cobra.Command, found setup.Service) error {
				return wizard.InstallService(cmd.Context(), cmd.OutOrStdout(), found)
			}),
		about("uninstall", "Stop the agent and remove the service", func(cmd *cobra.Command, found setup.Service) error {
			return found.Uninstall(cmd.Context())
		}),
		about("status", "Say whether the agent runs; exits 1 if it does not", func(cmd *cobra.Command, found setup.Service) error {
			status, err := found.Status(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), status)
			if status != "active" {
				return cli.Exit{Code: cli.ExitFailed}
			}
			return nil
		}),
		logs,
	)
	return cmd
}

// modeHelp describes --mode for the commands about services.
const modeHelp = "reviewer or author (default the one whose service is installed here)"

// serviceOf is the service of a mode or, without a mode, the only one that is installed.
func serviceOf(s *cli.Settings, cmd *cobra.Command, mode string) (setup.Service, error) {
	cfg, err := s.Load(cmd)
	if err != nil {
		return setup.Service{}, err
	}
	var installed []setup.Service
	for _, role := range []decide.Role{decide.Reviewer, decide.Author} {
		found, err := setup.ServiceOf(role, cfg)
		if err != nil || mode == string(role) {
			return found, err
		}
		if there, err := found.Installed(); err != nil {
			return found, err
		} else if there {
			installed = append(installed, found)
		}
	}
	switch {
	case mode == "" && len(installed) == 1:
		return installed[0], nil
	case mode == "" && len(installed) == 0:
		return setup.Service{}, cli.Usage(cmd, errors.New("no agent is installed as a service here; run `touchstone service install --mode "+
			"author`, or --mode reviewer with the reviewer's login"))
	}
	_, err = cli.Role(cmd, mode)
	return setup.Service{}, err
}

func bindFollow(cmd *cobra.Command, follow *bool) {
	cmd.Flags().BoolVarP(follow, "follow", "f", false, "keep showing new lines until interrupted")
}

// showLogs prints the log of a service.
func showLogs(cmd *cobra.Command, found setup.Service, follow bool) error {
	if there, err := found.Installed(); err != nil || !there {
		return cmp.Or(err, fmt.Errorf("the %s's agent is not installed as a service, so it has no log to show; run `touchstone service install "+
			"--mode %s`", found.Role, found.Role))
	}
	return found.Show(cmd.Context(), follow, cmd.OutOrStdout())
}
