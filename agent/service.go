package main

import (
	"cmp"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/service"
	"touchstone/agent/setup/wizard"
	"touchstone/agent/version"
	"touchstone/verdict/decide"
)

func newService(s *cli.Settings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Have the system run an agent: install, uninstall, status, logs",
		Long: `service has the operating system run an agent in your own session: started when you log in
and again when it fails, its log kept where the platform keeps logs. It is a systemd user
unit on Linux, a launchd agent on macOS and a scheduled task on Windows.

On a Linux machine where nobody logs in, run loginctl enable-linger once, as the
user whose agent it is.`,
		Example: "  touchstone service install --mode author\n  touchstone service logs --mode author -f",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var mode string
	cmd.PersistentFlags().StringVar(&mode, "mode", "", modeHelp)
	about := func(use, short string, do func(cmd *cobra.Command, found service.Service) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short, Args: cobra.NoArgs,
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
	logs := about("logs", "Show what the agent has logged", func(cmd *cobra.Command, found service.Service) error {
		return showLogs(cmd, found, follow)
	})
	bindFollow(logs, &follow)
	cmd.AddCommand(
		about("install", "Start the agent now and whenever you log in; again after an upgrade or to take up changes",
			func(cmd *cobra.Command, found service.Service) error {
				return wizard.InstallService(cmd.Context(), cmd.OutOrStdout(), found.Config, decide.Role(found.Mode))
			}),
		about("uninstall", "Stop the agent and remove the service", func(cmd *cobra.Command, found service.Service) error {
			return found.Uninstall(cmd.Context())
		}),
		about("status", "Tell whether the agent runs; exits 1 if it does not", func(cmd *cobra.Command, found service.Service) error {
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

// modeHelp says what --mode of the commands about a service takes.
const modeHelp = "reviewer or author (default the one whose service is installed here)"

// serviceOf is the service of a mode, or, without one, the only one that is installed.
func serviceOf(s *cli.Settings, cmd *cobra.Command, mode string) (service.Service, error) {
	cfg, err := s.Load(cmd)
	if err != nil {
		return service.Service{}, err
	}
	var installed []service.Service
	for _, role := range []decide.Role{decide.Reviewer, decide.Author} {
		found, err := service.Here(string(role), cfg.Path(), version.String())
		if err != nil || mode == string(role) {
			return found, err
		}
		if there, err := found.Installed(); err != nil {
			return found, err
		} else if there {
			installed = append(installed, found)
		}
	}
	if mode == "" && len(installed) == 1 {
		return installed[0], nil
	}
	_, err = cli.Role(cmd, mode)
	return service.Service{}, err
}

func bindFollow(cmd *cobra.Command, follow *bool) {
	cmd.Flags().BoolVarP(follow, "follow", "f", false, "go on showing it, until you stop this")
}

// showLogs prints what a service has logged.
func showLogs(cmd *cobra.Command, found service.Service, follow bool) error {
	if there, err := found.Installed(); err != nil || !there {
		return cmp.Or(err, fmt.Errorf("the %s's agent is not installed as a service, whose log this shows; run `touchstone service install "+
			"--mode %s`", found.Mode, found.Mode))
	}
	show := found.Logs(cmd.Context(), follow)
	show.Stdout, show.Stderr = cmd.OutOrStdout(), os.Stderr
	err := show.Run()
	if cmd.Context().Err() != nil {
		return nil // it was told to stop
	}
	return err
}
