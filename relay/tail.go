package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"touchstone/relay/client"
	"touchstone/relay/event"
)

func tailCommand() *cobra.Command {
	follow := client.Client{Token: os.Getenv("RELAY_TOKEN")}
	var after, format string
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Follow a relay and print its events",
		Long: `Follow a relay and print one line for each event, or with --format json the
whole event, until SIGINT or SIGTERM. It reconnects when the connection is lost,
and misses no event.

The first word of a line is the event's cursor; --after with that cursor goes on
from there. RELAY_TOKEN holds the access token, if the relay requires one.`,
		Example: `  touchstone-relay tail --after oldest
  touchstone-relay tail --repo 'acme/*' --type pull_request --type push
  touchstone-relay tail --after q7m2x4ka-1042 --format json | jq .payload.action`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkFormat(format); err != nil {
				return err
			}
			if err := follow.Validate(after); err != nil {
				return usageError{err}
			}
			follow.OnState = (&connection{log: zerolog.Ctx(cmd.Context())}).tell
			p := printer{out: cmd.OutOrStdout(), json: format == "json"}
			err := follow.Follow(cmd.Context(), after, p.print)
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		},
	}
	cmd.Flags().StringVar(&follow.URL, "url", "http://127.0.0.1:8080", "the relay's address")
	cmd.Flags().StringArrayVar(&follow.Filter.Sources, "source", nil, "only events of this source (repeatable)")
	cmd.Flags().StringArrayVar(&follow.Filter.Types, "type", nil, "only events of this type (repeatable)")
	cmd.Flags().StringArrayVar(&follow.Filter.Repos, "repo", nil, "only events of this repository, or glob such as acme/* (repeatable)")
	cmd.Flags().StringVar(&after, "after", client.Now, "where to begin: a cursor, oldest or now")
	bindFormat(cmd, &format)
	return cmd
}

// connection logs once when the connection is made and once when it is lost. It does not log the client's
// attempts in between.
type connection struct {
	log  *zerolog.Logger
	made bool // there has been a connection
	gone bool // the loss, or the failure to connect, has been logged
}

func (c *connection) tell(s client.State) {
	switch {
	case s.Connected:
		c.made, c.gone = true, false
		c.log.Info().Msg("connected")
	case c.gone:
	case c.made:
		c.gone = true
		c.log.Warn().Err(s.Err).Msg("connection lost; reconnecting")
	case errors.As(s.Err, new(*tls.CertificateVerificationError)):
		c.gone = true
		c.log.Warn().Err(s.Err).Msg("not connected: the relay's certificate is not trusted; correct it or --url, or name the file with " +
			"its issuer in SSL_CERT_FILE; trying again until then")
	default:
		c.gone = true
		c.log.Warn().Err(s.Err).Msg("not connected; start the relay with `touchstone-relay serve`, or correct --url; trying until it answers")
	}
}

// printer prints messages for people or, as JSON, for programs.
type printer struct {
	out  io.Writer
	json bool
}

func (p printer) print(_ context.Context, m event.Message) error {
	var err error
	switch {
	case m.Event != nil && p.json:
		err = p.printJSON(*m.Event)
	case m.Event != nil:
		e := m.Event
		subject := cmp.Or(e.Repo, "-")
		if e.Number > 0 {
			subject += fmt.Sprintf("#%d", e.Number)
		}
		_, err = fmt.Fprintf(p.out, "%s  %s  %s  %s  %s  %s\n", e.ID, e.ReceivedAt.Format("2006-01-02T15:04:05Z"),
			e.Name(), printable(cmp.Or(e.Action, "-")), printable(subject), printable(cmp.Or(e.Sender, "-")))
	case m.Settings != nil:
		_, err = fmt.Fprintf(p.notes(), "-- for all agents, since %s, by %s: %s\n", m.Settings.ID, whose(*m.Settings),
			inOneLine(m.Settings.Values))
	case m.Gap != nil:
		_, err = fmt.Fprintf(p.notes(), "-- events %s to %s are missing (%s)\n", m.Gap.From, m.Gap.To, printable(m.Gap.Reason))
	case m.Reset != nil:
		_, err = fmt.Fprintf(p.notes(), "-- the cursor does not belong to this relay (%s); continuing from the oldest event of log %s\n",
			printable(m.Reset.Reason), printable(m.Reset.Log))
	}
	return err
}

// printJSON escapes the characters that printable drops: in JSON, they can only be part of strings.
func (p printer) printJSON(e event.Event) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e); err != nil {
		return err
	}
	var out []byte
	for _, r := range strings.TrimSuffix(line.String(), "\n") {
		switch {
		case unicode.IsPrint(r):
			out = utf8.AppendRune(out, r)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, "\\u%04x", unit)
			}
		}
	}
	_, err := p.out.Write(append(out, '\n'))
	return err
}

// inOneLine formats settings in one line.
func inOneLine(settings map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		all = append(all, printable(key+"="+settings[key]))
	}
	return cmp.Or(strings.Join(all, " "), "nothing is set")
}

// notes returns where gaps, resets and settings are printed: among the events for people, but on standard
// error if a program reads the events.
func (p printer) notes() io.Writer {
	if p.json {
		return os.Stderr
	}
	return p.out
}
