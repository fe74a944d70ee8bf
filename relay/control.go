package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"touchstone/relay/event"
)

func controlCommand() *cobra.Command {
	var relay string
	cmd := &cobra.Command{
		Use:   "control",
		Short: "Choose the models of all agents that follow a relay",
		Long: `Choose the models of all agents that follow a relay. These settings override
each agent's own configuration: within seconds in agents that are connected, and
in others once they connect. A running session keeps its model to the end,
unless that model is switched off, which stops the session. The next session
uses the new model.

  engine.model            does everything that no other setting covers
  engine.review.model     reviews changes of any size
  engine.models.trivial   reviews changes of this size; also .lite and .full
  engine.models.fix       applies reviews
  engine.models.conflict  applies reviews where merging conflicts
  engine.models.check     checks blocking findings a second time
  engine.fallback         the models to go on with when one does not answer: a
                          list with commas
  engine.off              the models that are not used: whole names with their
                          engine, such as codex:o3, parts of at least four
                          characters, such as opus, or all of an engine, such
                          as codex:

Write a model's name as its engine does. For a model of another engine than the
agent's own, put the engine's name in front, as in codex:gpt-5. Nothing else can
be set: no commands, no addresses, no rights, no secrets. Agents with
control: false ignore these settings.

RELAY_TOKEN holds an admin's access token; a relay without tokens accepts no
changes. Any token may show the settings.`,
		Example: `  touchstone-relay control set engine.review.model=claude-sonnet-4-5
  touchstone-relay control set engine.off=opus engine.fallback=sonnet
  touchstone-relay control unset engine.off
  touchstone-relay control show --url https://relay.example.com`,
	}
	cmd.PersistentFlags().StringVar(&relay, "url", "http://127.0.0.1:8080", "the relay's address")
	cmd.AddCommand(controlSetCommand(&relay), controlUnsetCommand(&relay), controlShowCommand(&relay))
	return cmd
}

func controlSetCommand(relay *string) *cobra.Command {
	return &cobra.Command{
		Use:     "set KEY=VALUE...",
		Short:   "Set one or more settings, all at once",
		Example: `  touchstone-relay control set engine.review.model=claude-sonnet-4-5`,
		Args: func(_ *cobra.Command, args []string) error {
			_, err := patchOf(args)
			return err
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			patch, err := patchOf(args)
			if err != nil {
				return err
			}
			if err := change(cmd, *relay, patch); err != nil {
				return err
			}
			for _, key := range slices.Sorted(maps.Keys(patch)) {
				if named.MatchString(*patch[key]) {
					fmt.Fprintf(cmd.ErrOrStderr(), "An agent that has no engine of the name in %s=%s, or calls its models otherwise, leaves that out "+
						"and keeps its own; touchstone status says so there.\n", key, *patch[key])
				}
			}
			return nil
		},
	}
}

// named matches a model with its engine, as in codex:gpt-5. Only agents know which engines there are.
var named = regexp.MustCompile(`(^|,)[a-z][a-z0-9]*:`)

// patchOf parses KEY=VALUE... The relay decides about them, but obvious mistakes are reported without asking
// it.
func patchOf(args []string) (map[string]*string, error) {
	if len(args) == 0 {
		return nil, usageError{errors.New("nothing to set; write KEY=VALUE; see touchstone-relay control --help")}
	}
	patch := map[string]*string{}
	for _, arg := range args {
		key, value, found := strings.Cut(arg, "=")
		if !found {
			return nil, usageError{fmt.Errorf("%.60q has no value; write it as KEY=VALUE, such as engine.review.model=claude-sonnet-4-5", arg)}
		}
		if err := event.ValidateSetting(key, value); err != nil {
			return nil, usageError{err}
		}
		if patch[key] != nil {
			return nil, usageError{fmt.Errorf("%s is set twice; remove one of them", key)}
		}
		patch[key] = &value
	}
	return patch, nil
}

func controlUnsetCommand(relay *string) *cobra.Command {
	return &cobra.Command{
		Use:     "unset KEY...",
		Short:   "Remove settings, so that each agent uses its own again",
		Example: `  touchstone-relay control unset engine.review.model engine.off`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("nothing to unset; touchstone-relay control show lists what is set")}
			}
			for _, key := range args {
				if !slices.Contains(event.SettingKeys(), key) {
					return usageError{event.ValidateSetting(key, "")}
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			patch := map[string]*string{}
			for _, key := range args {
				patch[key] = nil
			}
			return change(cmd, *relay, patch)
		},
	}
}

func controlShowCommand(relay *string) *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Show the settings in force for all agents",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var settings event.Settings
			if err := ask(cmd.Context(), http.MethodGet, *relay, "control", nil, &settings); err != nil {
				return err
			}
			return printSettings(cmd.OutOrStdout(), settings)
		},
	}
}

// change sends a change and prints the settings that are then in force.
func change(cmd *cobra.Command, relay string, patch map[string]*string) error {
	var settings event.Settings
	if err := ask(cmd.Context(), http.MethodPatch, relay, "control", patch, &settings); err != nil {
		return err
	}
	return printSettings(cmd.OutOrStdout(), settings)
}

func printSettings(out io.Writer, settings event.Settings) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, key := range slices.Sorted(maps.Keys(settings.Values)) {
		fmt.Fprintf(table, "%s\t%s\n", printable(key), printable(settings.Values[key]))
	}
	switch {
	case len(settings.Values) == 0:
		fmt.Fprintln(table, "nothing is set: each agent uses its own configuration")
	default:
		fmt.Fprintf(table, "since %s, by %s (%s)\n", settings.At.Format(time.DateTime), whose(settings), settings.ID)
	}
	return table.Flush()
}
