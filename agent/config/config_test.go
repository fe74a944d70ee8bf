package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/rs/zerolog"

	"touchstone/worktree/strictyaml"
)

func TestTheExampleStatesTheDefaults(t *testing.T) {
	content := []byte(Example)
	var got Config // not Default(): what the example leaves out would go unnoticed
	if err := strictyaml.Decode(content, &got); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Repositories, want.Reviewers = []string{"acme/app"}, []string{"acme-reviewer"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the example says\n%+v\nthe defaults are\n%+v", got, want)
	}
	if err := usable(got).Validate(); err != nil {
		t.Errorf("the example cannot work: %v", err)
	}
	var keys map[string]any
	if err := yaml.Unmarshal(content, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range unmentioned(reflect.TypeFor[Config](), keys, "") {
		t.Errorf("the example does not mention %s", key)
	}
}

// unmentioned lists the keys of a struct that a document leaves out.
func unmentioned(of reflect.Type, keys map[string]any, prefix string) []string {
	var missing []string
	for field := range of.Fields() {
		key := field.Tag.Get("yaml")
		if key == "-" || !field.IsExported() {
			continue
		}
		value, ok := keys[key]
		if !ok {
			missing = append(missing, prefix+key)
		}
		if below, ok := value.(map[string]any); ok && field.Type.Kind() == reflect.Struct {
			missing = append(missing, unmentioned(field.Type, below, prefix+key+".")...)
		}
	}
	return missing
}

// usable is the configuration with what Load takes from the environment.
func usable(c Config) Config {
	c.GitHub.Token, c.StateDir = "ghp_token", "/state"
	return c
}

func TestValidateNamesWhatCannotWork(t *testing.T) {
	if err := usable(Default()).Validate(); err != nil {
		t.Fatalf("the defaults cannot work: %v", err)
	}
	less := -1.0
	for says, spoil := range map[string]func(*Config){
		"the GitHub token contains":                    func(c *Config) { c.GitHub.Token = "hunter2 hunter2" },
		"the relay token contains":                     func(c *Config) { c.Relay.Token = "hunter2\nhunter2" },
		"notify.slack_webhook_file names":              func(c *Config) { c.Notify.SlackWebhook = "hunter2" },
		"github.api_url is not the address":            func(c *Config) { c.GitHub.APIURL = "api.github.com" },
		"guidelines_url is not":                        func(c *Config) { c.GuidelinesURL = "http://wiki.example.com/docs" },
		"worktrees.max_gb is -1":                       func(c *Config) { c.Worktrees.MaxGB = -1 },
		"worktrees.unused is 0s":                       func(c *Config) { c.Worktrees.Unused = 0 },
		"github.api_url must be plain":                 func(c *Config) { c.GitHub.APIURL = "https://me:hunter2@github.example.com/" },
		"use https":                                    func(c *Config) { c.GitHub.APIURL = "http://github.example.com/api/v3/" },
		"relay.url is not the address":                 func(c *Config) { c.Relay.URL = "ftp://relay.example.com" },
		"relay.url must be plain":                      func(c *Config) { c.Relay.URL = "https://relay.example.com/?token=hunter2" },
		"would send the token unencrypted":             func(c *Config) { c.Relay.URL = "http://10.0.0.1:8080" },
		`repositories has "app"`:                       func(c *Config) { c.Repositories = []string{"acme/app", "app"} },
		`repositories has "acme/.."`:                   func(c *Config) { c.Repositories = []string{"acme/.."} },
		`reviewers has "@octocat"`:                     func(c *Config) { c.Reviewers = []string{"@octocat"} },
		`review is "some"`:                             func(c *Config) { c.Review = "some" },
		"rounds.max is 0":                              func(c *Config) { c.Rounds.Max = 0 },
		"rounds.attempts is -1":                        func(c *Config) { c.Rounds.Attempts = -1 },
		"rounds.backoff is 0s":                         func(c *Config) { c.Rounds.Backoff = 0 },
		"sweep is -1m0s":                               func(c *Config) { c.Sweep = Duration(-time.Minute) },
		"concurrency is 0":                             func(c *Config) { c.Concurrency = 0 },
		"engine.command has an empty program":          func(c *Config) { c.Engine.Command = []string{""} },
		"engine.command does not apply":                func(c *Config) { c.Engine.Name, c.Engine.Command = "acp", []string{"gemini"} },
		"engine.acp.command has an empty program":      func(c *Config) { c.Engine.ACP.Command = []string{"", "x"} },
		`engine.acp.variables has "A=B"`:               func(c *Config) { c.Engine.ACP.Variables = []string{"A=B"} },
		`engine.acp.variables has "AWS_*"`:             func(c *Config) { c.Engine.ACP.Variables = []string{"AWS_*"} },
		"engine.acp.variables has GITHUB_TOKEN":        func(c *Config) { c.Engine.ACP.Variables = []string{"GITHUB_TOKEN"} },
		"engine.max_turns is -1":                       func(c *Config) { c.Engine.MaxTurns = -1 },
		"engine.max_memory_gb is 0.5":                  func(c *Config) { c.Engine.MaxMemoryGB = 0.5 },
		"engine.max_processes is 9":                    func(c *Config) { c.Engine.MaxProcesses = 9 },
		"engine.timeout is 0s":                         func(c *Config) { c.Engine.Timeout = 0 },
		"engine.idle_timeout is 1ms":                   func(c *Config) { c.Engine.IdleTimeout = Duration(time.Millisecond) },
		"engine.tool_timeout is 0s":                    func(c *Config) { c.Engine.ToolTimeout = 0 },
		`engine.gateway is "true"; it must be on`:      func(c *Config) { c.Engine.Gateway = "true" },
		`engine.sandbox is ""`:                         func(c *Config) { c.Engine.Sandbox = "" },
		`engine.sandbox is "on"; it must be auto`:      func(c *Config) { c.Engine.Sandbox = On },
		`engine.fallback has "", which is not a model`: func(c *Config) { c.Engine.Fallback = []string{"sonnet", ""} },
		`engine.allow has " **"`:                       func(c *Config) { c.Engine.Allow = []string{"go test *", " **"} },
		`engine.off has "gpt 5"`:                       func(c *Config) { c.Engine.Off = []string{"gpt 5"} },
		`engine.models.fix has "--yolo"`:               func(c *Config) { c.Engine.Models.Fix = "--yolo" },
		`engine.model has "codex:--yolo"`:              func(c *Config) { c.Engine.Model = "codex:--yolo" },
		`prices.date is ""`: func(c *Config) {
			c.Prices.Models = map[string]Price{"gpt-5": {Input: new(float64), Output: new(float64)}}
		},
		`prices.date is "yesterday"`: func(c *Config) { c.Prices.Date = "yesterday" },
		`prices.models has "gpt-5"`: func(c *Config) {
			c.Prices = Prices{"2026-01-31", map[string]Price{"gpt-5": {Input: new(float64), Output: &less}}}
		},
		`prices.models has "gpt-6"`: func(c *Config) {
			c.Prices = Prices{"2026-01-31",
				map[string]Price{"gpt-6": {Input: new(float64)}}}
		},
		`prices.models has "gpt-7"`: func(c *Config) {
			c.Prices = Prices{"2026-01-31",
				map[string]Price{"gpt-7": {}}}
		},
		"budgets.round is -1":                       func(c *Config) { c.Budgets.Round = -1 },
		"budgets.day is NaN":                        func(c *Config) { c.Budgets.Day = math.NaN() },
		"budgets.round_time is -1s":                 func(c *Config) { c.Budgets.RoundTime = Duration(-time.Second) },
		`author.network is "none"; it must be full`: func(c *Config) { c.Author.Network = "none" },
		"author.network is gateway, which requires": func(c *Config) {
			c.Author.Network,
				c.Engine.Sandbox = NetworkGateway, Off
		},
		"author.pause is -1s": func(c *Config) { c.Author.Pause = Duration(-time.Second) },
		`rights.waive is "read"; it must be write, maintain or admin`: func(c *Config) { c.Rights.Waive = "read" },
		`rights.break_glass is ""`:                                    func(c *Config) { c.Rights.BreakGlass = "" },
		`worktrees.partial is "yes"`:                                  func(c *Config) { c.Worktrees.Partial = "yes" },
		`worktrees.clones has "app"`: func(c *Config) {
			c.Worktrees.Clones = map[string]string{"app": "/src/app"}
		},
		`metrics.listen is ":9477"`:                                         func(c *Config) { c.Metrics.Listen = ":9477" },
		`metrics.listen is "0.0.0.0:9477"; it must be a port on a loopback`: func(c *Config) { c.Metrics.Listen = "0.0.0.0:9477" },
		"author must be": func(c *Config) {
			c.Author.Name, c.Author.Email = "Octo Cat",
				"octocat"
		},
		"author must be a plain name":                                          func(c *Config) { c.Author.Name = "Octo\nCat" },
		"labels.needs_human must be":                                           func(c *Config) { c.Labels.NeedsHuman = "" },
		"labels.hold must be":                                                  func(c *Config) { c.Labels.Hold = strings.Repeat("x", 51) },
		"labels.manual must be":                                                func(c *Config) { c.Labels.Manual = "" },
		"labels.manual must be a label's name":                                 func(c *Config) { c.Labels.Manual = " mine" },
		"labels.hold must be a label's name":                                   func(c *Config) { c.Labels.Hold = "ours\x00" },
		`labels.needs_human and labels.hold are the same label, "Needs-Human"`: func(c *Config) { c.Labels.Hold = "Needs-Human" },
		"author must be a plain name and email":                                func(c *Config) { c.Author.Email = "octo@cat\x00" },
		"set state_dir":                                                        func(c *Config) { c.StateDir = "" },
		`log.level is "loud"; it must be debug`:                                func(c *Config) { c.Log.Level = "loud" },
		"auto, console or json":                                                func(c *Config) { c.Log.Format = "xml" },
	} {
		t.Run(says, func(t *testing.T) {
			cfg := usable(Default())
			spoil(&cfg)
			err := cfg.Validate()
			if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Validate says %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestValidateLetsThrough(t *testing.T) {
	cfg := usable(Default())
	cfg.GitHub.APIURL, cfg.GitHub.Token = "http://127.0.0.1:4000/api/v3/", ""
	cfg.Relay.URL, cfg.Relay.Token = "http://[::1]:8080", "rly_1_secret"
	cfg.Notify.SlackWebhook = "https://hooks.example.com/services/x"
	cfg.Reviewers = []string{"octocat", "acme-reviewer[bot]", "octo_acme"}
	cfg.Author.Name, cfg.Author.Email = "Octo Cat", "octocat@example.com"
	cfg.Engine.Models, cfg.Engine.Off = Models{Trivial: "openrouter/x:free", Full: "codex:"}, []string{"opus", "codex:"}
	some := 1.25
	cfg.Prices, cfg.Metrics.Listen = Prices{"2026-01-31",
		map[string]Price{"gpt-5": {Input: &some, Output: &some}, "own": {Input: new(float64), Output: new(float64)}}}, "[::1]:0"
	cfg.Budgets = Budgets{}
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}

func TestAModelIsAloneOrNamedWithItsEngine(t *testing.T) {
	for name, want := range map[string][2]string{
		"":                           {"", ""},
		"sonnet":                     {"", "sonnet"},
		"codex:gpt-5":                {"codex", "gpt-5"},
		"codex:":                     {"codex", ""},
		"opencode:openai/gpt-5":      {"opencode", "openai/gpt-5"},
		"opencode:openrouter/x:free": {"opencode", "openrouter/x:free"},
		"openrouter/x:free":          {"", "openrouter/x:free"},
		"anthropic.claude-v2:0":      {"", "anthropic.claude-v2:0"},
	} {
		if engine, model := Choice(name); engine != want[0] || model != want[1] {
			t.Errorf("%q is %q of %q", name, model, engine)
		}
	}
}

func TestValidateNamesAllAtOnce(t *testing.T) {
	cfg := usable(Default())
	cfg.Review, cfg.Concurrency, cfg.StateDir = "some", 0, ""
	err := cfg.Validate()
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three mistakes make %v", err)
	}
}

func TestASecretDoesNotShow(t *testing.T) {
	const secret = "ghp_do_not_show"
	cfg := Default()
	cfg.GitHub.Token, cfg.Relay.Token, cfg.Notify.SlackWebhook = secret, secret, secret
	var shown strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&shown, verb+"\n", cfg)
		fmt.Fprintf(&shown, verb+"\n", cfg.GitHub.Token)
	}
	asJSON, err := json.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.Marshal(map[string]any{"config": cfg, "token": cfg.GitHub.Token})
	if err != nil {
		t.Fatal(err)
	}
	log := zerolog.New(&shown)
	log.Info().Interface("config", cfg).Any("token", cfg.GitHub.Token).Stringer("as", cfg.GitHub.Token).Send()
	all := shown.String() + string(asJSON) + string(asYAML)
	if strings.Contains(all, secret) || strings.Contains(all, fmt.Sprintf("%x", secret)) {
		t.Errorf("a secret shows:\n%s", all)
	}
	if n := strings.Count(all, "[redacted]"); n < 15 {
		t.Errorf("the placeholder shows only %d times:\n%s", n, all)
	}
}

func TestOnlyPlainHTTPSAddressesAreLinked(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://github.com/acme/touchstone/blob/v0.2.0/guidelines/docs": true, "https://wiki.acme.dev:8443/": true,
		"https://wiki.acme.dev/our%20docs": true,
		"http://wiki.acme.dev/docs":        false, "http://127.0.0.1/docs": false, "wiki.acme.dev/docs": false, "javascript:alert(1)": false,
		"https:///docs": false, "https://me:hunter2@wiki.acme.dev/docs": false, "https://wiki.acme.dev/?page=docs": false,
		"https://wiki.acme.dev/docs?": false, "https://wiki.acme.dev/docs#top": false, "https://wiki.acme.dev/docs#": false,
		"https://wiki.acme.dev/docs) [x](https://x": false,
		"https://wiki.acme.dev/our docs":            false, "https://wiki.acme.dev/<!--": false, "https://wiki.acme.dev/d\u00f6cs": false,
	} {
		c := usable(Default())
		c.GuidelinesURL = address
		if err := c.Validate(); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}
