package main

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

func linkCommand() *cobra.Command {
	var relay string
	cmd := &cobra.Command{
		Use:   "link",
		Short: "Print a one-time link that signs a browser in to the relay's page",
		Long: `Print a link that signs a browser in to the relay's page, once and within ten
minutes. The page then shows what the token in RELAY_TOKEN may read. The browser
is signed out when that token is revoked.

A machine that has joined has such a token in relay-token beside agent.yaml, an
administrator's in relay-admin-token.`,
		Example: `  export RELAY_TOKEN=$(cat ~/.config/touchstone/relay-admin-token)
  touchstone-relay link --url https://relay.example.com`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var answer struct{ Link string }
			if err := ask(cmd.Context(), http.MethodPost, relay, "sign-in/link", nil, &answer); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), answer.Link)
			return err
		},
	}
	cmd.Flags().StringVar(&relay, "url", "http://127.0.0.1:8080", "the relay's address")
	return cmd
}
