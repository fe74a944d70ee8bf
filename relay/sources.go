package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"touchstone/relay/event"
	"touchstone/relay/server"
	"touchstone/relay/source"
	"touchstone/worktree/strictyaml"
)

// maxSecretBytes is far above any secret.
const maxSecretBytes = 64 << 10

// shortSecret is the length in bytes below which a secret is called short: 16 characters that a person chose, or 64 random
// bits in hexadecimal digits.
const shortSecret = 16

// sourceName matches valid names of sources; a name becomes part of URLs and frames.
var sourceName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// endpoint is one entry below "sources" in relay.yaml: where its secrets are, and the settings of its kind.
// Their keys are those of the type of that name in package source.
type endpoint struct {
	github  bool // its events have GitHub's shape
	secrets secretPlaces
	kind    func(secret, previous string) configured
}

// configured is a source that can check its settings, and whether a stored event matches its signature.
type configured interface {
	server.Source
	Validate() error
	Prove(e event.Event) error
}

// secretPlaces are the keys that every kind has.
type secretPlaces struct {
	Kind       string `yaml:"kind"`
	SecretEnv  texts  `yaml:"secret_env"`
	SecretFile texts  `yaml:"secret_file"`
}

// texts is a list that may be written as its only element.
type texts []string

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (t *texts) UnmarshalYAML(node ast.Node) error {
	if list := (*[]string)(t); yaml.NodeToValue(node, list) == nil {
		return strictyaml.Node(node, list)
	}
	var one string
	err := strictyaml.Node(node, &one)
	*t = texts{one}
	return err
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (e *endpoint) UnmarshalYAML(node ast.Node) error {
	var head struct {
		Kind string `yaml:"kind"`
	}
	if err := yaml.NodeToValue(node, &head); err != nil {
		return err
	}
	read, ok := kinds[head.Kind]
	if !ok {
		return strictyaml.At(node, fmt.Sprintf("the kind of a source must be %s, not %.40q", kindNames(), head.Kind))
	}
	var err error
	*e, err = read(node)
	e.github = head.Kind == "github"
	return err
}

// kinds are the kinds of webhooks, each with the function that decodes its settings.
var kinds = map[string]func(ast.Node) (endpoint, error){
	"github":   settings(func(s source.GitHub, now, before string) configured { s.Secret, s.Previous = now, before; return s }),
	"grafana":  settings(func(s source.Grafana, now, before string) configured { s.Secret, s.Previous = now, before; return s }),
	"standard": settings(func(s source.Standard, now, before string) configured { s.Secret, s.Previous = now, before; return s }),
	"generic":  settings(func(s source.Generic, now, before string) configured { s.Secret, s.Previous = now, before; return s }),
}

// kindNames lists the kinds for a sentence.
func kindNames() string {
	names := slices.Sorted(maps.Keys(kinds))
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// settings returns a function that strictly decodes a source of one kind. The function with adds the source's
// secrets, the new and the old one.
func settings[Kind any](with func(kind Kind, now, before string) configured) func(ast.Node) (endpoint, error) {
	return func(node ast.Node) (endpoint, error) {
		var all struct {
			Places secretPlaces `yaml:",inline"`
			Kind   Kind         `yaml:",inline"`
		}
		if err := strictyaml.Node(node, &all); err != nil {
			return endpoint{}, err
		}
		return endpoint{
			secrets: all.Places,
			kind:    func(secret, previous string) configured { return with(all.Kind, secret, previous) },
		}, nil
	}
}

// build reads the secrets and creates the source.
func (e endpoint) build(name string, unsigned bool) (configured, error) {
	secrets, err := e.read(name, unsigned)
	if err != nil {
		return nil, err
	}
	secrets = append(secrets, "", "")
	built := e.kind(secrets[0], secrets[1])
	if err := built.Validate(); err != nil {
		return nil, fmt.Errorf("the source %s: %w", name, err)
	}
	return built, nil
}

// read returns the secrets, none of them empty.
func (e endpoint) read(name string, unsigned bool) ([]string, error) {
	places := len(e.secrets.SecretEnv) + len(e.secrets.SecretFile)
	if places > 2 {
		return nil, fmt.Errorf("the source %s has %d secrets; give at most two, the new one first", name, places)
	}
	var secrets []string
	for _, variable := range e.secrets.SecretEnv {
		secret := os.Getenv(variable)
		if secret == "" && !unsigned {
			return nil, fmt.Errorf("%s is not set; set it to the secret of the source %s, from the webhook's settings at the sender, or "+
				"start with --allow-unsigned %s to accept every request", variable, name, name)
		}
		secrets = append(secrets, secret)
	}
	for _, path := range e.secrets.SecretFile {
		secret, err := readSecret(path)
		if err != nil {
			return nil, fmt.Errorf("read the secret of the source %s: %w", name, err)
		}
		secrets = append(secrets, secret)
	}
	secrets = slices.DeleteFunc(secrets, func(secret string) bool { return secret == "" })
	if len(secrets) == 0 && !unsigned {
		return nil, fmt.Errorf("the source %s has no secret; name a variable in secret_env or a file in secret_file that contains it, or "+
			"start with --allow-unsigned %s to accept every request", name, name)
	}
	return secrets, nil
}

// short names the sources that have a secret which somebody could find by trying, once a signed webhook is known.
func (c Config) short() (names []string) {
	for name, e := range c.endpoints() {
		secrets, _ := e.read(name, true) // sources reports what cannot be read
		if slices.ContainsFunc(secrets, func(secret string) bool { return len(secret) < shortSecret }) {
			names = append(names, name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

// readSecret reads a file, without the line break that editors put at its end.
func readSecret(path string) (string, error) {
	text, err := readFile(path, maxSecretBytes)
	if err != nil {
		return "", err
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("the file %s is empty", path)
	}
	return secret, nil
}

// validateSources reports all names that cannot be used.
func (c Config) validateSources() error {
	var errs []error
	endpoints := c.endpoints()
	names := slices.Sorted(maps.Keys(endpoints))
	for _, name := range names {
		if endpoints[name].kind == nil {
			errs = append(errs, fmt.Errorf("the source %s is empty; set its kind, which is %s", name, kindNames()))
		}
		if !sourceName.MatchString(name) || name == "relay" {
			errs = append(errs, fmt.Errorf("%q is not a valid name of a source; use 1 to 63 of a-z, 0-9 and hyphens, but not relay", name))
		}
	}
	for _, name := range c.AllowUnsigned {
		if !slices.Contains(names, name) {
			errs = append(errs, fmt.Errorf("allow-unsigned names %q, which is not a source; the sources are %s", name, strings.Join(names, ", ")))
		}
	}
	return errors.Join(errs...)
}

// githubSources returns the sources whose events have GitHub's shape.
func (c Config) githubSources() (names []string) {
	for name, e := range c.endpoints() {
		if e.github {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// endpoints returns the sources; without any in the configuration, there is one of GitHub's.
func (c Config) endpoints() map[string]endpoint {
	if len(c.Sources) > 0 {
		return c.Sources
	}
	return map[string]endpoint{"github": {
		github: true, secrets: secretPlaces{SecretEnv: texts{"RELAY_GITHUB_SECRET"}},
		kind: func(secret, previous string) configured { return source.GitHub{Secret: secret, Previous: previous} },
	}}
}

// sources builds the endpoints from the configuration, the environment and the files with secrets.
func (c Config) sources() (map[string]server.Source, error) {
	built := map[string]server.Source{}
	var problems error
	endpoints := c.endpoints()
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		s, err := endpoints[name].build(name, slices.Contains(c.AllowUnsigned, name))
		problems = errors.Join(problems, err)
		built[name] = s
	}
	return built, problems
}
