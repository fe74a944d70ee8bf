package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"touchstone/relay/recovery"
	"touchstone/relay/source"
)

func hookCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Set up the webhook on GitHub",
	}
	cmd.AddCommand(hookInstallCommand())
	return cmd
}

func hookInstallCommand() *cobra.Command {
	var repo, org, address, api, configFile string
	var events []string
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Make GitHub send a repository's or organization's events",
		Long: `Create the webhook that sends a repository's or an organization's events to the
relay, and wait until GitHub's ping arrives there. The relay has to be running.
If a webhook with the same address exists, this updates its events and its
secret. With a secret that is not the relay's, the webhook no longer works until
you run this again with the right one.

GITHUB_TOKEN holds a token with the permission Webhooks, read and write (a
classic token needs the scope admin:repo_hook, for an organization
admin:org_hook). RELAY_GITHUB_SECRET holds the secret, the same as where the
relay runs. Or --config names the relay's configuration.`,
		Example: `  touchstone-relay hook install --repo acme/app
  touchstone-relay hook install --org acme --config relay.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			secret := os.Getenv("RELAY_GITHUB_SECRET")
			if configFile == "" && secret == "" {
				configFile = setUp()
			}
			if configFile != "" {
				var err error
				if secret, address, err = endpointOf(configFile, address); err != nil {
					return usageError{err}
				}
			}
			hook, err := webhook(repo, org, address, secret, events)
			if err != nil {
				return usageError{err}
			}
			github, err := Config{GitHubAPI: api}.github()
			if err != nil {
				return usageError{err}
			}
			if github.Token == "" {
				return usageError{errors.New("GITHUB_TOKEN is not set: set it to a token with the permission Webhooks, read and write")}
			}
			created, err := github.Install(cmd.Context(), hook)
			if err != nil {
				return err
			}
			done := "brought up to date"
			if created {
				done = "installed"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: webhook to %s %s; its ping arrived\n", hook.Owner, hook.URL, done)
			return err
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "the repository, such as acme/app")
	cmd.Flags().StringVar(&org, "org", "", "or the organization, such as acme: one webhook for all its repositories")
	cmd.Flags().StringVar(&address, "url", "",
		"the address under which GitHub reaches the relay's endpoint, such as https://relay.example.com/webhooks/github")
	cmd.Flags().StringArrayVar(&events, "event", []string{"*"}, "only this type of event (repeatable)")
	cmd.Flags().StringVar(&configFile, "config", "",
		"the relay's YAML file, for its address and secret (default the one that up wrote, unless RELAY_GITHUB_SECRET is set)")
	cmd.Flags().StringVar(&api, "github-api", "", "address of GitHub's REST API (default "+recovery.DefaultAPI+")")
	return cmd
}

// endpointOf returns the secret of the GitHub source that address leads to, and address. If that is empty, it returns
// those of the relay's first GitHub source.
func endpointOf(file, address string) (secret, endpoint string, err error) {
	config := defaultConfig()
	if err := config.load(file); err != nil {
		return "", "", err
	}
	if err := config.validateSources(); err != nil {
		return "", "", err
	}
	names := config.githubSources()
	if len(names) == 0 {
		return "", "", fmt.Errorf("%s has no source of the kind github; add one", file)
	}
	if address == "" && config.PublicURL == "" {
		return "", "", fmt.Errorf("the address at which GitHub reaches the relay is not set; give --url, or set public_url in %s", file)
	}
	name := names[0]
	if to := path.Base(address); slices.Contains(names, to) {
		name = to // each source has its own secret
	}
	// The secrets of the other sources may be known only where the relay runs.
	built, err := config.endpoints()[name].build(name, slices.Contains(config.AllowUnsigned, name))
	if err != nil {
		return "", "", err
	}
	return built.(source.GitHub).Secret, cmp.Or(address, strings.TrimSuffix(config.PublicURL, "/")+"/webhooks/"+name), nil
}

// webhook checks the arguments and the environment.
func webhook(repo, org, address, secret string, events []string) (recovery.Webhook, error) {
	if (repo == "") == (org == "") {
		return recovery.Webhook{}, errors.New("no repository or organization given; use --repo acme/app or --org acme")
	}
	owner, err := recovery.ParseTarget(cmp.Or(repo, org))
	if err != nil {
		return recovery.Webhook{}, err
	}
	if repo != "" && !strings.Contains(repo, "/") || org != "" && strings.Contains(org, "/") {
		return recovery.Webhook{}, fmt.Errorf("%q is not valid: --repo takes a repository such as acme/app, --org an organization such as acme",
			cmp.Or(repo, org))
	}
	if address == "" {
		return recovery.Webhook{}, errors.New("the address at which GitHub reaches the relay is not set; give --url, such as " +
			"https://relay.example.com/webhooks/github, or name the relay's settings with --config")
	}
	parsed, err := url.Parse(address)
	if err != nil || validatePublic(address) != nil || path.Base(path.Dir(parsed.Path)) != "webhooks" {
		return recovery.Webhook{}, fmt.Errorf("--url %q is not a relay's endpoint; write one such as https://relay.example.com/webhooks/github",
			address)
	}
	if secret == "" {
		return recovery.Webhook{}, errors.New("RELAY_GITHUB_SECRET is not set: set it to the secret that the relay runs with; a new one can " +
			"be made with openssl rand -hex 32")
	}
	return recovery.Webhook{Owner: owner, URL: address, Secret: secret, Events: events}, nil
}
