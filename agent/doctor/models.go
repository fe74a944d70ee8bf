package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"touchstone/agent/compose"
	"touchstone/agent/config"
	"touchstone/agent/engine"
	"touchstone/agent/engine/engines"
	"touchstone/agent/engine/fallback"
	"touchstone/agent/engine/process"
	"touchstone/agent/engine/sandbox"
	"touchstone/agent/remoteconfig"
	"touchstone/verdict"
	"touchstone/verdict/decide"
)

// models checks everything about models: each configured model CLI, whether its provider can be reached,
// which fallbacks there are, and what limits them.
func (d *Doctor) models(ctx context.Context) {
	// The relay's administrators may have chosen other models than the file.
	choices, errNotRead := remoteconfig.Ask(ctx, d.Config)
	live := config.NewLive(d.Config, choices)
	models := compose.Models(live, "")
	var unpriced []string
	var direct []string // the engines that use no gateway
	builtIn := ""       // an engine's built-in price table, in words
	for _, name := range live.Config().Engine.Engines() {
		var v engine.Version
		ok := d.check("model", func() (string, error) {
			e, err := models.New(name)
			if err != nil {
				return "", err
			}
			v, err = e.Probe(ctx)
			said := fmt.Sprintf("%s %s at %s", name, v.Number, v.Path)
			if v.Lacks != "" {
				said += "; " + v.Lacks
			}
			return said, err
		})
		if !ok {
			continue
		}
		if v.Priced == "" {
			unpriced = append(unpriced, name)
		} else {
			builtIn = fmt.Sprintf("those built into %s, as of %s", name, v.Priced)
			if old := compose.Stale(v.Priced, time.Now()); old != "" {
				builtIn += old + ": update this program, or set prices.date and prices.models"
			}
		}
		if v.Direct != "" {
			direct = append(direct, name)
		}
		d.check("provider", func() (string, error) { return provider(ctx, name, v) })
	}
	if d.Config.Relay.URL != "" {
		d.check("control", func() (string, error) { return d.remoteConfig(choices, errNotRead) })
	}
	d.check("fallback", func() (string, error) { return d.fallback(models, live.Config().Engine) })
	d.check("effort", func() (string, error) { return effort(live.Config().Engine) })
	d.check("judges", func() (string, error) { return judges(live.Config().Engine), nil })
	d.check("prices", func() (string, error) { return d.prices(unpriced, builtIn) })
	d.check("sandbox", func() (string, error) { return sandboxed(live.Config().Engine) })
	d.check("network", func() (string, error) { return d.network(ctx, live.Config().Engine, direct) })
	d.check("bounds", d.bounds)
}

// providerTimeout bounds how long a provider may take to answer.
const providerTimeout = 10 * time.Second

// provider reports whether an engine's provider answers, with any status: only a session shows whether a
// login is refused.
func provider(ctx context.Context, name string, v engine.Version) (string, error) {
	if v.Provider == "" {
		return fmt.Sprintf("not known; %s connects to it directly, since %s", name, v.Direct), nil
	}
	ctx, cancel := context.WithTimeout(ctx, providerTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, v.Provider, nil)
	if err != nil {
		return "", fmt.Errorf("%s has an invalid provider's address; correct the variable that sets it", name)
	}
	// The address may contain a password.
	address := request.URL.Redacted()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("%s cannot be reached (%w); check the network, the proxy and the provider's address", address, errors.Unwrap(err))
	}
	response.Body.Close()
	if v.Direct != "" {
		return fmt.Sprintf("%s answers; %s connects to it directly, since %s", address, name, v.Direct), nil
	}
	return fmt.Sprintf("%s answers; %s connects to it through the gateway, which keeps the key", address, name), nil
}

// remoteConfig reports what the relay's administrators have chosen for all agents, and which of it this agent
// ignores. The check of the relay reports that the relay does not answer.
func (d *Doctor) remoteConfig(choices *remoteconfig.Overlay, errNotRead error) (string, error) {
	said := choices.Summary(d.Config.Engine.Name)
	switch {
	case !d.Config.Control:
		return "turned off by control: this agent ignores what the relay's administrators choose for all agents", nil
	case len(said.Problems) > 0:
		return "", fmt.Errorf("the relay's administrators chose settings that this agent cannot use, so it uses its own: %s; correct them with "+
			"touchstone-relay control, or update this agent", strings.Join(said.Problems, "; "))
	case len(said.Settings) == 0 && errNotRead != nil:
		return "not known, since the relay did not answer", nil
	}
	return said.String(), nil
}

// fallback reports which models are asked for a full review and for a fix, in this order.
func (d *Doctor) fallback(models *fallback.Engine, chosen config.Engine) (string, error) {
	var all []string
	if err := compose.CheckModels(chosen, d.Role); err != nil {
		return "", err
	}
	for _, task := range []struct {
		config.Task
		role engine.Role
	}{{config.ReviewFull, engine.Reviewer}, {config.Fix, engine.Author}} {
		chain, err := models.Chain(chosen.ModelFor(task.Task), task.role)
		if err != nil {
			return "", err
		}
		if len(chain) == 0 {
			return "", errors.New("every model is switched off by engine.off; leave one of them on")
		}
		names := make([]string, len(chain))
		for i, choice := range chain {
			names[i] = choice.String()
		}
		all = append(all, strings.Join(names, ", then "))
	}
	if all[0] == all[1] {
		return all[0], nil
	}
	return fmt.Sprintf("%s; for a fix %s", all[0], all[1]), nil
}

// chosenFor returns the configured engine and model for a task.
func chosenFor(e config.Engine, task config.Task) fallback.Choice {
	name, model := config.Choice(e.ModelFor(task))
	return fallback.Choice{Engine: cmp.Or(name, e.Name), Model: model}
}

// effort reports the configured reasoning effort of the models, and which engine does not accept one.
func effort(e config.Engine) (string, error) {
	var said []string
	var errs []error
	for _, task := range config.Tasks() {
		if level := e.EffortFor(task); level != "" {
			said = append(said, fmt.Sprintf("%s %s", task, level))
			if err := engines.CheckEffort(chosenFor(e, task).Engine, level); err != nil {
				errs = append(errs, fmt.Errorf("engine.effort.%s: %w", task, err))
			}
		}
	}
	return cmp.Or(strings.Join(said, ", "), "the default of each program and model"), errors.Join(errs...)
}

// judges reports whether writing, reviewing and checking use different models, as far as this machine runs
// them: a model repeats its misunderstandings in each role.
func judges(e config.Engine) string {
	writer, reviewer, checker := chosenFor(e, config.Fix), chosenFor(e, config.ReviewFull), chosenFor(e, config.Check)
	said := fmt.Sprintf("fixes by %s, reviews by %s, checks by %s", writer, reviewer, checker)
	if who := verdict.SameModel(writer.String(), reviewer.String(), checker.String()); who != "" {
		said += ": " + who + "; another model in engine.models.check, or on another machine for one of the roles, would find what this one misses"
	}
	return said
}

// prices reports which table is used to count costs: the configuration's, which engines without their own
// prices need, or an engine's.
func (d *Doctor) prices(unpriced []string, builtIn string) (string, error) {
	if err := compose.CheckPrices(d.Config, unpriced, time.Now()); err != nil {
		return "", err
	}
	if n := len(d.Config.Prices.Models); n > 0 {
		return fmt.Sprintf("%s of %s", verdict.Amount(n, "model's price", "models' prices"), d.Config.Prices.Date), nil
	}
	return cmp.Or(builtIn, "not known, since no engine can be used"), nil
}

// bounds reports the limits of a session and of a command that verifies a fix, and what enforces them.
func (d *Doctor) bounds() (string, error) {
	most, err := process.Bounds{Memory: d.Config.Engine.MaxMemory(), Processes: d.Config.Engine.MaxProcesses}.Or()
	if err != nil {
		return fmt.Sprintf("none: %v", err), nil
	}
	holder, err := process.Holder()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("a session or a verify command may use, with all that it starts, %s, limited %s", most, holder), nil
}

// ownSandbox is the engine that confines its commands itself. No other sandbox confines its sessions.
const ownSandbox = "codex"

// network reports which network reviewers' and, unless this machine only reviews, authors' sessions reach. The direct
// engines use no gateway.
func (d *Doctor) network(ctx context.Context, chosen config.Engine, direct []string) (string, error) {
	held, reviews := sandbox.Network(), d.Role == decide.Reviewer
	closed := !reviews && d.Config.Author.Network == config.NetworkGateway
	if d.Config.Engine.Sandbox == config.Off {
		held = errors.New("engine.sandbox is off")
	}
	except := ""
	if len(direct) > 0 {
		except = fmt.Sprintf("; those of %s, which use no gateway, can connect to everything", strings.Join(direct, " and "))
	}
	if slices.Contains(chosen.Engines(), ownSandbox) {
		except += "; " + ownSandbox + " itself can connect to everything, and its commands to nothing"
	}
	switch {
	case closed && len(direct) > 0:
		return "", fmt.Errorf("author.network is gateway, but sessions of %s connect to their provider without one, so none of them will fix "+
			"anything; give it an API key, or set author.network to full", strings.Join(direct, " and "))
	case closed && held != nil:
		return "", fmt.Errorf("author.network is gateway, which cannot be enforced here: %w; nothing will be fixed; set it to full", held)
	case closed:
		// Some systems do not allow plain users their own network namespaces.
		alone := process.Command{Args: []string{"true"}, Confine: &sandbox.Rules{Alone: true}, Timeout: time.Minute, IdleTimeout: time.Minute}
		if _, err := alone.Run(ctx); err != nil {
			return "", fmt.Errorf("author.network is gateway, but this system cannot isolate a verify command from the network: %w; "+
				"allow this user to create namespaces, or set author.network to full", err)
		}
		return "reviewers' and authors' sessions can connect only to their gateway" + except + "; verify commands have no network", nil
	case held != nil:
		return fmt.Sprintf("all sessions can connect to everything that this machine can: %v", held), nil
	case reviews:
		return "reviewers' sessions can connect only to their gateway" + except, nil
	}
	return "reviewers' sessions can connect only to their gateway" + except + "; authors' sessions and verify commands can connect to " +
		"everything that this machine can (author.network: full)", nil
}

// sandboxed reports what confines sessions and the commands that verify a fix.
func sandboxed(chosen config.Engine) (string, error) {
	own := ""
	if slices.Contains(chosen.Engines(), ownSandbox) {
		own = "; the commands of " + ownSandbox + " run in its own sandbox instead"
	}
	if chosen.Sandbox == config.Off {
		return "turned off by engine.sandbox: model CLIs and an author's commands run with all rights of this user" + own, nil
	}
	level, err := sandbox.Level()
	if err := chosen.CheckSandbox(err); err != nil {
		return "", err
	}
	if err != nil {
		return fmt.Sprintf("none: %v; model CLIs and an author's commands run with all rights of this user; engine.sandbox: required would "+
			"run none", err) + own, nil
	}
	said := level + ", for sessions and the commands of an author"
	if chosen.Sandbox == config.Required {
		said = level + ", required for sessions and the commands of an author"
	}
	said += own
	if gaps := sandbox.Gaps(); len(gaps) > 0 {
		said += "; what is confined can still reach: " + strings.Join(gaps, ", ")
	}
	return said, nil
}
