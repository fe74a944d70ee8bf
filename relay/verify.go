package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/server"
	"touchstone/relay/source"
)

func verifyCommand() *cobra.Command {
	config := defaultConfig()
	var configFile string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check a stored log: gaps, order, duplicates, damaged events",
		Long: `Read a stored log from end to end and report what is wrong with it: missing
numbers, wrong order, deliveries that are stored twice, events that have changed
since, by their checksums, and damage to the file itself. If a source's secret
is available, where touchstone-relay serve would find it, its events are also
compared with their signatures. Stop the relay that uses an SQLite store first,
or verify a copy of the file. Exit code 1 means that something is wrong. Events
that a relay before version 0.2 stored have no checksum: the last line says how
many there are.`,
		Example: `  touchstone-relay verify
  touchstone-relay verify --store sqlite:/var/lib/relay/relay.db`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := config.findStore(cmd.Flags(), configFile); err != nil {
				return err
			}
			store, err := server.OpenExistingStore(cmd.Context(), config.Store)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, store.Close()) }()
			problems := 0
			fits, err := config.prover(cmd.Context(), store)
			if err != nil {
				return err
			}
			report, err := hub.Verify(cmd.Context(), store, fits, func(problem string) {
				problems++
				fmt.Fprintln(cmd.OutOrStdout(), problem)
			})
			if err != nil {
				return fmt.Errorf("verify %s: %w", config.Store, err)
			}
			if problems > 0 {
				return fmt.Errorf("the log %s has %d problems", report.Bounds.Log, problems)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), verdictOn(report))
			return err
		},
	}
	cmd.Flags().StringVar(&config.Store, "store", config.Store, "the store to verify: sqlite:PATH or firestore:PROJECT[/DATABASE]")
	cmd.Flags().StringVar(&configFile, "config", "", "read the store and the sources from this YAML file")
	return cmd
}

// findStore loads the file, if one is named, and reports a store that is not there: opening it would create it.
func (c *Config) findStore(flags *pflag.FlagSet, file string) error {
	if file != "" {
		if err := c.loadUnder(flags, file); err != nil {
			return usageError{err}
		}
	}
	if err := server.ValidateStore(c.Store); err != nil {
		return usageError{err}
	}
	if path, ok := strings.CutPrefix(c.Store, "sqlite:"); ok {
		return checkThere(path)
	}
	return nil
}

// verdictOn says what a log without problems holds, and how much of it was checked in which way.
func verdictOn(report hub.Report) string {
	b := report.Bounds
	text := fmt.Sprintf("log %s is sound: no events", b.Log)
	if b.Head > b.Floor {
		text = fmt.Sprintf("log %s is sound: %d events, %d to %d", b.Log, b.Head-b.Floor, b.Floor+1, b.Head)
	}
	if report.Proved > 0 {
		text += fmt.Sprintf("; %d match their signatures", report.Proved)
	}
	if report.Unproved > 0 {
		text += fmt.Sprintf("; %d do not match, possibly because the secret was changed since", report.Unproved)
	}
	if report.Unchecked > 0 {
		text += fmt.Sprintf("; %d are unchecked, because they are from before relays stored checksums", report.Unchecked)
	}
	return text
}

// prover returns a function that compares events with the signatures that came with them, if the secrets of
// their sources are available.
func (c Config) prover(ctx context.Context, store hub.Store) (func(e event.Event) (fits, known bool), error) {
	sources := map[string]configured{}
	for name, endpoint := range c.endpoints() {
		// Without its secret, a source's events cannot be checked.
		s, err := endpoint.build(name, false)
		if err != nil {
			continue
		}
		if github, ok := s.(source.GitHub); ok {
			if github.App, err = server.AppSecret(ctx, store, name); err != nil {
				return nil, err
			}
			s = github
		}
		sources[name] = s
	}
	return func(e event.Event) (fits, known bool) {
		s, ok := sources[e.Source]
		if !ok {
			return false, false
		}
		err := s.Prove(e)
		return err == nil, !errors.Is(err, source.ErrNoProof)
	}, nil
}
