package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"touchstone/relay/server"
)

func renewCommand() *cobra.Command {
	config := defaultConfig()
	var configFile string
	cmd := &cobra.Command{
		Use:   "renew",
		Short: "Give a log that was restored from a backup a new id",
		Long: `Give the log in an SQLite file a new id. Do this when you put a backup in the
place of a log, before the relay starts: subscribers may have read further than
the backup goes. Under the new id, each gets a relay.reset and then the log from
its oldest event; under the old one, it could miss events without knowing.`,
		Example: `  touchstone-relay renew --store sqlite:/var/lib/relay/relay.db`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if configFile != "" {
				if err := config.loadUnder(cmd.Flags(), configFile); err != nil {
					return usageError{err}
				}
			}
			path, ok := server.StorePath(config.Store)
			if !ok {
				return usageError{fmt.Errorf("--store is %q; only a log in a file, such as sqlite:relay.db, is restored from a copy", config.Store)}
			}
			if err := checkThere(path); err != nil {
				return err
			}
			log, err := server.RenewLog(cmd.Context(), config.Store)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "the log's id is now "+log)
			return err
		},
	}
	cmd.Flags().StringVar(&config.Store, "store", config.Store, "the restored store: sqlite:PATH")
	cmd.Flags().StringVar(&configFile, "config", "", "read the store's address from this YAML file")
	return cmd
}
