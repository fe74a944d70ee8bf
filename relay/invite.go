package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"touchstone/relay/event"
	"touchstone/relay/token"
	"touchstone/worktree/span"
)

func inviteCommand() *cobra.Command {
	var place tokenPlace
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Let somebody join with a link that works once",
		Long: `Let somebody join with a link that works once. You send the link instead of an
access token: the person who opens it with touchstone join gets a token of their
own.

touchstone-relay token list shows invitations that nobody has used yet, and
touchstone-relay token revoke takes one back.`,
		Example: `  touchstone-relay invite create --name alice --repo acme/app
  touchstone-relay invite create --name bot --role reviewer --config relay.yaml`,
	}
	place.bind(cmd)
	cmd.AddCommand(inviteCreateCommand(&place))
	return cmd
}

func inviteCreateCommand(place *tokenPlace) *cobra.Command {
	var role, address string
	var names, reviewers []string
	var scope event.Filter
	life := span.Duration(24 * time.Hour)
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a link that lets one machine join, and print it",
		Long: `Make a link that lets one machine join, and print it; with several names, one
link for each, after the name. A link works once, until it expires. Send it only
to the person it is for: until it is used, anyone who has it can use it.

The relay's address is --url, or public_url in the file that --config names. The
part of the link after # never reaches a proxy or its logs.`,
		Example: `  touchstone-relay invite create --name alice --name bob --repo acme/app
  touchstone-relay invite create --name bot --role reviewer --config relay.yaml
  touchstone-relay invite create --name ops --role admin --expires 1h \
      --url https://relay.acme.dev`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(names) == 0 {
				return usageError{errors.New("no name given; say whom the invitation is for with --name, such as --name alice")}
			}
			config, err := place.configuration()
			if err != nil {
				return usageError{err}
			}
			if len(reviewers) == 0 {
				reviewers = config.Reviewers
			}
			var links []string
			var invited []token.Token
			for _, name := range names {
				made, code, err := token.NewInvite(name, event.Mode(role), scope, reviewers, time.Duration(life))
				if err != nil {
					return usageError{err}
				}
				link, err := invitationLink(cmp.Or(address, config.PublicURL), code)
				if err != nil {
					return usageError{err}
				}
				if len(names) > 1 {
					link = name + "  " + link
				}
				links, invited = append(links, link), append(invited, made)
			}
			if err := place.add(cmd.Context(), invited...); err != nil {
				return err
			}
			for _, made := range invited {
				zerolog.Ctx(cmd.Context()).Info().Str("token", made.ID).Str("name", made.Name).Str("role", role).
					Time("expires", made.Invite.Expires).Msg("invitation created; it is shown only once")
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(links, "\n"))
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&names, "name", nil, "the person it is for, such as alice (repeatable, one link for each)")
	flags.StringVar(&role, "role", string(event.ForAuthor),
		"what the machine is for: author or reviewer; or admin, for a person who runs the relay")
	completes(cmd, "role", string(event.ForAuthor)+"\tfixes and merges their own", string(event.ForReviewer)+"\treviews what others open",
		string(event.ForAdmin)+"\truns the relay")
	flags.StringArrayVar(&scope.Repos, "repo", nil, "let it read only this repository, or glob such as acme/* (repeatable)")
	flags.StringArrayVar(&scope.Sources, "source", nil, "let it read only this source (repeatable)")
	flags.StringArrayVar(&reviewers, "reviewer", nil,
		"a login whose verdicts count on the machine that joins (repeatable; default the reviewers in the file that --config names)")
	flags.Var(&life, "expires", "how long it is valid, such as 1h or 7d; at most 30d")
	flags.StringVar(&address, "url", "", "the relay's public address, such as https://relay.example.com")
	return cmd
}

// invitationLink returns the link that a person opens: the relay's address with the code after it.
func invitationLink(address, code string) (string, error) {
	if address == "" {
		return "", errors.New("the relay's public address is not set; give --url, such as https://relay.example.com, or set public_url in the " +
			"file that --config names")
	}
	return strings.TrimSuffix(address, "/") + "/join#" + code, validatePublic(address)
}
