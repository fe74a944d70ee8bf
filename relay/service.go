package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/worktree/service"
)

func serviceCommand() *cobra.Command {
	var u setup
	var follow bool
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Run the relay as a service: install, uninstall, status, logs",
		Long: `service makes the operating system run the relay that touchstone-relay up has
set up, and restart it when it fails. On Linux the relay starts with the machine
if root installs it, and otherwise with your session. On macOS and Windows it
starts with your session.`,
		Example: `  touchstone-relay service install
  touchstone-relay service logs -f`,
	}
	cmd.PersistentFlags().StringVar(&u.dir, "dir", "", "where up keeps everything (default "+stateDir()+")")
	// missing returns an error if the service is not installed.
	missing := func(found service.Service) error {
		there, err := found.Installed()
		if err == nil && !there {
			err = errors.New("the relay is not installed as a service; run touchstone-relay service install")
		}
		return err
	}
	about := func(use, short string, do func(cmd *cobra.Command, found service.Service) error) *cobra.Command {
		return &cobra.Command{
			Use: use, Short: short,
			RunE: func(cmd *cobra.Command, _ []string) error {
				if err := u.find(); err != nil {
					return err
				}
				found, err := u.service()
				if err != nil {
					return err
				}
				return do(cmd, found)
			},
		}
	}
	logs := about("logs", "Show what the relay has logged", func(cmd *cobra.Command, found service.Service) error {
		if err := missing(found); err != nil {
			return err
		}
		return found.Show(cmd.Context(), follow, cmd.OutOrStdout())
	})
	logs.Flags().BoolVarP(&follow, "follow", "f", false, "keep showing new lines, until you stop it")
	cmd.AddCommand(
		about("install", "Install and start the relay; run this again to apply changes",
			func(cmd *cobra.Command, _ service.Service) error {
				if _, err := u.settings(cmd); err != nil {
					return err
				}
				return u.install(cmd.Context(), cmd.OutOrStdout())
			}),
		about("uninstall", "Stop the relay and remove the service", func(cmd *cobra.Command, found service.Service) error {
			return found.Uninstall(cmd.Context())
		}),
		about("status", "Show whether the relay is running; exits 1 if it is not", func(cmd *cobra.Command, found service.Service) error {
			if err := missing(found); err != nil {
				return err
			}
			status, err := found.Status(cmd.Context())
			if err == nil && status != "active" {
				err = fmt.Errorf("the relay's service is %s; see touchstone-relay service logs", status)
			}
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), status)
			}
			return err
		}),
		logs,
	)
	return cmd
}
