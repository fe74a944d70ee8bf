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
		Long: `Give a log a new id. Do this when you put a backup in the place of a log, or
restored one into a Firestore database, before a relay uses it: subscribers may
have read further than the backup goes. Under the new id, each gets a
relay.reset and then the log from its oldest event; under the old one, it could
miss events without knowing.`,
		Example: `  touchstone-relay renew --store sqlite:/var/lib/relay/relay.db
  touchstone-relay renew --store firestore:acme-hooks/restored`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.findStore(cmd.Flags(), configFile); err != nil {
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
	cmd.Flags().StringVar(&config.Store, "store", config.Store, "the restored store: sqlite:PATH or firestore:PROJECT[/DATABASE]")
	cmd.Flags().StringVar(&configFile, "config", "", "read the store's address from this YAML file")
	return cmd
}
