package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/relay/hub"
	"touchstone/relay/server"
)

func verifyCommand() *cobra.Command {
	address := defaultConfig().Store
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check a stored log: gaps, order, duplicates, damaged events",
		Long: `Read a stored log from end to end and report what is wrong with it: missing numbers,
broken order, deliveries that are there twice, events that no subscriber could read.
Nothing is changed. The relay that uses an SQLite store has to be stopped; a copy of the
file does as well. Exit code 1 says that something is wrong.`,
		Example: `  relay verify
  relay verify --store sqlite:/var/lib/relay/relay.db`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := server.ValidateStore(address); err != nil {
				return usageError{err}
			}
			// Opening a store makes it, which is not what is asked for here.
			if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
				if err := checkThere(path); err != nil {
					return err
				}
			}
			store, err := server.OpenStore(cmd.Context(), address)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, store.Close()) }()
			problems := 0
			bounds, err := hub.Verify(cmd.Context(), store, func(problem string) {
				problems++
				fmt.Fprintln(cmd.OutOrStdout(), problem)
			})
			if err != nil {
				return fmt.Errorf("verify %s: %w", address, err)
			}
			if problems > 0 {
				return fmt.Errorf("the log %s has %d problems", bounds.Log, problems)
			}
			holds := "no events"
			if bounds.Head > bounds.Floor {
				holds = fmt.Sprintf("%d events, %d to %d", bounds.Head-bounds.Floor, bounds.Floor+1, bounds.Head)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "log %s is sound: %s\n", bounds.Log, holds)
			return err
		},
	}
	cmd.Flags().StringVar(&address, "store", address, "the store to verify: sqlite:PATH or firestore:PROJECT[/DATABASE]")
	return cmd
}

// checkThere reports, of an embedded store that is to be looked at, that there is none.
func checkThere(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no store %s: name the one you mean with --store", path)
	}
	return nil
}
