package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"touchstone/relay/event"
	"touchstone/relay/token"
)

func tokenCommand() *cobra.Command {
	var place tokenPlace
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke the access tokens of a relay",
		Long: `Make, list and revoke the access tokens of a relay.

Once there is a token, reading events requires one, and the relay may listen on
other addresses than loopback. A running relay applies changes within seconds,
and ends the streams of a revoked token. Give the command the same --config or
--store as touchstone-relay serve.

The relay stores only hashes: for a log in FILE, in FILE.tokens beside it.`,
		Example: `  touchstone-relay token create --name laptop-1 --repo 'acme/*' --source github
  touchstone-relay token list
  touchstone-relay token revoke k3f2q7xa`,
	}
	place.bind(cmd)
	cmd.AddCommand(tokenCreateCommand(&place), tokenListCommand(&place), tokenRevokeCommand(&place))
	return cmd
}

func tokenCreateCommand(place *tokenPlace) *cobra.Command {
	var name, role string
	var scope event.Filter
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a token and print it, once",
		Long: `Make a token and print it. It cannot be shown again, because the relay stores
only its hash.

A subscriber sets RELAY_TOKEN to it. Without --repo and --source the token reads
everything; with them, other events are never sent. A token with --repo does not
get events that are about no repository.`,
		Example: `  touchstone-relay token create --name laptop-1 --repo 'acme/*' --source github
  touchstone-relay token create --name ops --role admin`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return usageError{errors.New("no name given; say whose access token it is with --name, such as --name laptop-1")}
			}
			made, text, err := token.New(name, token.Role(role), scope)
			if err != nil {
				return usageError{err}
			}
			err = place.add(cmd.Context(), made)
			if err != nil {
				return err
			}
			zerolog.Ctx(cmd.Context()).Info().Str("token", made.ID).Str("name", made.Name).Str("role",
				role).Msg("access token created; it is shown only once")
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "whose token it is, such as laptop-1")
	cmd.Flags().StringVar(&role, "role", string(token.Subscriber),
		"subscriber reads events; admin also reads the relay's metrics, and chooses the agents' models")
	completes(cmd, "role", string(token.Subscriber)+"\treads events", string(token.Admin)+"\tcontrols the relay too")
	cmd.Flags().StringArrayVar(&scope.Sources, "source", nil, "let it read only this source (repeatable)")
	cmd.Flags().StringArrayVar(&scope.Repos, "repo", nil, "let it read only this repository, or glob such as acme/* (repeatable)")
	return cmd
}

func tokenListCommand(place *tokenPlace) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the tokens, including revoked ones",
		Long: `Show the tokens, including revoked ones. Once a minute and when it stops, the
relay records when each token was last used. For an open stream, the time of the
last record is shown.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(format); err != nil {
				return err
			}
			return place.open(cmd.Context(), func(store token.Store) error {
				tokens, err := store.Load(cmd.Context())
				if err != nil {
					return err
				}
				if file, ok := store.(token.File); ok && len(tokens) == 0 {
					if err := checkThere(strings.TrimSuffix(file.Path, ".tokens")); err != nil {
						return err
					}
				}
				uses, err := store.Uses(cmd.Context())
				if err != nil {
					return err
				}
				if format == "json" {
					return encodeTokens(cmd.OutOrStdout(), tokens, uses)
				}
				return printTokens(cmd.OutOrStdout(), tokens, uses)
			})
		},
	}
	bindFormat(cmd, &format)
	return cmd
}

// encodeTokens prints tokens for programs, without their hashes.
func encodeTokens(out io.Writer, tokens []token.Token, uses token.Uses) error {
	type shown struct {
		token.Token
		Used *time.Time `json:"used,omitempty"`
		Hash string     `json:"sha256,omitempty"` // hides the token's hash
	}
	all := []shown{}
	for _, t := range tokens {
		s := shown{Token: t}
		if at, ok := uses[t.ID]; ok {
			s.Used = &at
		}
		all = append(all, s)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(all)
}

func tokenRevokeCommand(place *tokenPlace) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "End a token, and the streams that use it",
		Example: `  touchstone-relay token revoke k3f2q7xa`,
		Args: func(_ *cobra.Command, args []string) error {
			// Keep the argument out of the error: it may be a token.
			if len(args) != 1 || !event.ValidTokenID(args[0]) {
				return usageError{errors.New("give the id of one access token, as touchstone-relay token list shows it; the access token itself is a " +
					"secret and does not belong on a command line")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return place.open(cmd.Context(), func(store token.Store) error {
				revoked, err := token.Revoke(cmd.Context(), store, args[0])
				if err != nil {
					return err
				}
				zerolog.Ctx(cmd.Context()).Info().Str("token", revoked.ID).Str("name", revoked.Name).Msg("access token revoked")
				return nil
			})
		},
	}
}

func printTokens(out io.Writer, tokens []token.Token, uses token.Uses) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tROLE\tSOURCES\tREPOSITORIES\tCREATED\tLAST USED\tREVOKED")
	list := func(values []string) string { return printable(cmp.Or(strings.Join(values, ","), "all")) }
	for _, t := range tokens {
		used, revoked := "-", "-"
		if t.Invite != nil {
			used = "invited until " + t.Invite.Expires.Format(time.DateTime)
		}
		if at, ok := uses[t.ID]; ok {
			used = at.Format(time.DateTime)
		}
		if t.Revoked != nil {
			revoked = t.Revoked.Format(time.DateTime)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, t.Role, list(t.Sources), list(t.Repos),
			t.Created.Format(time.DateTime), used, revoked)
	}
	return table.Flush()
}
