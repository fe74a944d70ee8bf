package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"touchstone/agent/board"
	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/forge"
	"touchstone/agent/worker"
	"touchstone/relay/client"
)

// RelayPatience bounds how long a relay may take to answer a command while people wait.
const RelayPatience = 5 * time.Second

// Relay returns a client of the configured relay.
func Relay(cfg config.Config) *client.Client {
	return &client.Client{URL: cfg.Relay.URL, Token: string(cfg.Relay.Token)}
}

// OpenPulls returns the open pull requests as listed by the relay, or by GitHub if there is no relay or it
// does not answer; partial says that there are more.
func OpenPulls(cmd *cobra.Command, cfg config.Config, github *forge.Client, only []string) (pulls []board.Pull, partial bool, err error) {
	if cfg.Relay.URL != "" {
		if pulls, err = AskRelay(cmd.Context(), cfg, only); err == nil {
			return pulls, false, nil
		}
		cmd.PrintErrf("%v; reading GitHub instead\n", err)
	}
	repos, err := compose.Repositories(cfg)
	if err != nil {
		return nil, false, err
	}
	book, err := compose.Trusted(config.NewLive(cfg, nil))
	if err != nil {
		return nil, false, err
	}
	judge := worker.Onlooker{Read: github, Config: cfg, Trust: book}.State
	return board.FromGitHub(cmd.Context(), github, repos, cfg.Reviewers, judge)
}

// AskRelay asks the relay for the open pull requests of repositories, or of all repositories that it knows.
func AskRelay(ctx context.Context, cfg config.Config, only []string) ([]board.Pull, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, RelayPatience, fmt.Errorf("it has not answered within %s", RelayPatience))
	defer cancel()
	return board.FromRelay(ctx, Relay(cfg), only)
}
