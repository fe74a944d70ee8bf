package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"touchstone/relay/recovery"
)

func recoverCommand() *cobra.Command {
	var relay, format string
	cmd := &cobra.Command{
		Use:   "recover",
		Short: "Bring in GitHub's deliveries that are missing from the log",
		Long: `Make a running relay compare the deliveries that GitHub lists with its log now,
and bring in what is missing. The relay does this by itself when it starts and
every ten minutes, for the webhooks that touchstone-relay serve --recover names.

The relay asks GitHub to send each missing delivery again, with its signature.
If GitHub cannot, the relay fetches the delivery and stores it unsigned, with
the header X-Relay-Recovered. GitHub lists deliveries for three days; older ones
are lost, and the report says so.

It takes about a second for each missing delivery. Exit code 1 means that
something is still missing, or that GitHub did not answer. If the relay runs on
another machine, RELAY_TOKEN has to hold an admin's access token.`,
		Example: `  touchstone-relay recover
  touchstone-relay recover --url https://relay.example.com --format json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(format); err != nil {
				return err
			}
			var report recovery.Report
			err := ask(cmd.Context(), http.MethodPost, relay, "recover", nil, &report)
			if err != nil {
				return err
			}
			if format == "json" {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(report)
			} else {
				err = printReport(cmd.OutOrStdout(), report)
			}
			if err == nil && slices.ContainsFunc(report.Hooks, func(h recovery.HookReport) bool { return h.Left > 0 || h.Problem != "" }) {
				err = errors.New("the recovery has problems; see the report")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&relay, "url", "http://127.0.0.1:8080", "the relay's address")
	bindFormat(cmd, &format)
	return cmd
}

func printReport(out io.Writer, report recovery.Report) error {
	var err error
	print := func(format string, a ...any) {
		if err == nil {
			_, err = fmt.Fprintf(out, format, a...)
		}
	}
	for _, h := range report.Hooks {
		print("%s:", h.Hook)
		if !h.Since.IsZero() {
			print(" %d deliveries since %s, %d of them missing", h.Compared, h.Since.Format(time.RFC3339), h.Missing)
		}
		if h.Missing > 0 {
			print(": %d sent again, %d fetched unsigned, %d still missing", h.Redelivered, h.Fetched, h.Left)
		}
		print("\n")
		if !h.OutOfReach.IsZero() {
			print("  deliveries between %s and %s can no longer be recovered\n", h.OutOfReach.Format(time.RFC3339), h.Since.Format(time.RFC3339))
		}
		if h.Problem != "" {
			print("  %s\n", printable(h.Problem))
		}
	}
	return err
}
