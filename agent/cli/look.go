package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/forge"
)

// BindOnlooker adds the flags of commands that only read GitHub.
func BindOnlooker(cmd *cobra.Command, reviewers *[]string, format *string) {
	cmd.Flags().StringArrayVar(reviewers, "reviewer", nil,
		"`login` whose reviews count, instead of the configured ones; may be given more than once")
	cmd.Flags().StringVar(format, "format", "text", "text or json")
}

// Onlooker reads the configuration of a command that only reads GitHub and needs no model.
func (s *Settings) Onlooker(cmd *cobra.Command, reviewers []string) (config.Config, *forge.Client, error) {
	cfg, err := s.Load(cmd)
	if err != nil {
		return cfg, nil, err
	}
	if len(reviewers) > 0 {
		cfg.Reviewers = reviewers
	}
	if len(cfg.Reviewers) == 0 {
		return cfg, nil, config.Mistake{Err: fmt.Errorf("no reviewer is configured, so no review counts; list the logins under `reviewers` in "+
			"%s, which `touchstone join` and `touchstone init` write, or give --reviewer login", cmp.Or(cfg.Path(), "agent.yaml"))}
	}
	client, err := compose.Client(cfg)
	return cfg, client, err
}

// Print writes a command's result.
func Print(to io.Writer, format string, what interface{ Write(io.Writer) error }) error {
	if format == "text" {
		return what.Write(to)
	}
	out := json.NewEncoder(to)
	out.SetIndent("", "  ")
	return out.Encode(what)
}
