package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"touchstone/agent/cli"
	"touchstone/agent/config"
	"touchstone/agent/setup"
	"touchstone/agent/setup/wizard"
	"touchstone/verdict/decide"
)

func newJoin(s *cli.Settings) *cobra.Command {
	var start wizard.Machine
	cmd := &cobra.Command{
		Use:   "join LINK",
		Short: "Join a team's relay with an invitation",
		Long: `join exchanges an invitation, which works once, for this machine's access to the
relay, writes agent.yaml and the files next to it, and checks everything as
doctor does. With another invitation, it changes what that one specifies, keeps
everything else, and says what it changed.

For GitHub Enterprise Server, write github.api_url into agent.yaml first.

It takes the GitHub login from the first of these: --github-token-file,
agent.yaml, GITHUB_TOKEN, gh's login, and on a terminal a token that you paste.
It asks nothing where there is no terminal.`,
		Example: `  touchstone join 'https://relay.example.com/join#inv_…'
  touchstone join "$LINK" --github-token-file ~/reviewer.token --service
  touchstone join "$LINK" --app`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("give the invitation's link, in quotes, as touchstone-relay invite create printed it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			invitation, err := setup.ParseInvitation(args[0])
			if err != nil {
				return cli.Usage(cmd, err)
			}
			start.Settings, start.Dialog = s, cli.NewDialog(cmd)
			// Everything that can fail is tried while the invitation is still unused.
			cfg, err := s.Load(cmd)
			if err != nil {
				return err
			}
			looked, err := invitation.Look(cmd.Context())
			if err != nil && cfg.Relay.URL == invitation.Relay && cfg.Relay.Token != "" {
				return fmt.Errorf("%w (this machine is a member of that relay already; `touchstone doctor` checks it)", err)
			} else if err != nil {
				return err
			}
			admin := looked.Role == "admin"
			name := "relay-token"
			if admin { // an administrator may also join as author, and then has both tokens
				name = config.AdminTokenFile
			}
			start.Set("relay.url", invitation.Relay)
			if !admin || cfg.Relay.URL != invitation.Relay || cfg.Relay.TokenFile == "" {
				start.Set("relay.token_file", name)
			}
			start.Plain = admin
			if cfg, err = start.Prepare(cmd); err != nil {
				return err
			}
			member, err := invitation.Redeem(cmd.Context())
			if err != nil {
				return err
			}
			token := filepath.Join(filepath.Dir(cfg.Path()), name)
			if err := setup.Save(token, []byte(member.Token+"\n")); err != nil {
				return fmt.Errorf("%w; the invitation is used up; once this is corrected, ask for a new one", err)
			}
			start.Say("%s is a member of %s, as %s", "this machine", member.Relay, looked.Role)
			if admin {
				if len(member.Reviewers) > 0 {
					start.Set("reviewers", member.Reviewers)
				}
				start.Say("the administrator's token is in %s; commands that need it read it from RELAY_TOKEN", token)
				return start.Write(cfg)
			}
			return start.Finish(cmd.Context(), cfg, decide.Role(looked.Role), member.Repositories, member.Reviewers)
		},
	}
	cmd.Flags().BoolVar(&start.App, "app", false, "as reviewer, act as a GitHub App; run touchstone app create next")
	start.Bind(cmd)
	return cmd
}
