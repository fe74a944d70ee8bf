package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/singleflight"

	"touchstone/relay/source"
	"touchstone/relay/token"
)

const (
	// maxAppSecret bounds the secret of an App's webhook; minAppSecret excludes secrets that can be guessed.
	// In bytes.
	maxAppSecret, minAppSecret = 256, 16
	// maxAppSecretBytes is far above a request with such a secret.
	maxAppSecretBytes = 4 << 10
	// appSecretCheck is the time between two checks for a secret that was given to another relay of the log.
	appSecretCheck = 5 * time.Second
)

// appSecrets are the secrets with which GitHub Apps sign their webhooks, in addition to the configured
// secrets. They are stored beside the log, where all relays of the log find them.
type appSecrets struct {
	notes   token.Notebook
	looking singleflight.Group

	mu     sync.Mutex
	known  map[string]string
	looked map[string]time.Time
}

// AppSecret returns the secret with which a GitHub App signs its webhooks to a source; empty for none.
func AppSecret(ctx context.Context, notes token.Notebook, source string) (string, error) {
	secret, err := notes.Note(ctx, "app-secret-"+source)
	if err != nil {
		return "", fmt.Errorf("read the App's secret of the source %s: %w", source, err)
	}
	return secret, nil
}

// look reads the secret stored beside the log, unless that was done just now, and reports whether it differs
// from the secret that was used. Concurrent calls share one answer of the store, and nothing else waits for
// it.
func (a *appSecrets) look(ctx context.Context, source, used string) (news bool, err error) {
	_, err, _ = a.looking.Do(source, func() (any, error) {
		a.mu.Lock()
		before, due := a.known[source], time.Since(a.looked[source]) >= appSecretCheck
		a.mu.Unlock()
		if !due {
			return nil, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout) // other callers share it
		defer cancel()
		secret, err := AppSecret(ctx, a.notes, source)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.looked[source] = time.Now()
		if err == nil && a.known[source] == before { // otherwise it was set meanwhile
			a.known[source] = secret
		}
		return nil, err
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.known[source] != used, err
}

func (a *appSecrets) set(ctx context.Context, source, secret string) error {
	if err := a.notes.SetNote(ctx, "app-secret-"+source, secret); err != nil {
		return fmt.Errorf("write the App's secret of the source %s: %w", source, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[source] = secret
	return nil
}

// source returns the source with its App's secret added.
func (a *appSecrets) source(name string, from Source) Source {
	github, ok := from.(source.GitHub)
	if !ok {
		return from
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	github.App = a.known[name]
	return github
}

// accept has a source verify and describe a webhook. Before it refuses a signature, it looks for an App's
// secret that was given to another relay of the log.
func (s *Server) accept(ctx context.Context, name string, from Source, accept func(Source) error) error {
	known := s.appSecrets.source(name, from)
	err := accept(known)
	github, ok := known.(source.GitHub)
	if !ok || !errors.Is(err, source.ErrUnauthorized) {
		return err
	}
	news, failed := s.appSecrets.look(ctx, name, github.App)
	if failed != nil {
		s.faults.Write(ctx, zerolog.ErrorLevel, failed, "cannot tell whether an App has another secret")
	}
	if !news {
		return err
	}
	return accept(s.appSecrets.source(name, from))
}

// appSource is a source that receives the webhooks of a GitHub App.
type appSource struct {
	Name string `json:"name"`
	// URL is the webhook address to set in the App.
	URL string `json:"url"`
	// App says that the source has the secret of an App already.
	App bool `json:"app"`
}

// listAppSources answers an administrator who is about to create an App.
func (s *Server) listAppSources(w http.ResponseWriter, r *http.Request, _ *token.Grant) {
	sources := []appSource{}
	for _, name := range slices.Sorted(maps.Keys(s.config.Sources)) {
		if github, ok := s.appSecrets.source(name, s.config.Sources[name]).(source.GitHub); ok {
			sources = append(sources, appSource{name, s.address(r) + "/webhooks/" + name, github.App != ""})
		}
	}
	reply(w, http.StatusOK, map[string]any{"sources": sources})
}

// takeAppSecret stores the secret of a GitHub App's webhook in place of the source's earlier one. The
// configured secrets stay valid.
func (s *Server) takeAppSecret(w http.ResponseWriter, r *http.Request, grant *token.Grant) {
	name := r.PathValue("source")
	if _, ok := s.config.Sources[name].(source.GitHub); !ok {
		refuse(w, http.StatusNotFound, "this relay has no GitHub source of that name")
		return
	}
	var asked struct {
		Secret string `json:"secret"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAppSecretBytes)).Decode(&asked)
	if err != nil || len(asked.Secret) < minAppSecret || len(asked.Secret) > maxAppSecret {
		refuse(w, http.StatusBadRequest, fmt.Sprintf(`the body is not the secret of a webhook; send {"secret":"…"} with %d to %d characters`,
			minAppSecret, maxAppSecret))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTimeout)
	defer cancel()
	if err := s.appSecrets.set(ctx, name, asked.Secret); err != nil {
		zerolog.Ctx(ctx).Error().Err(err).Msg("cannot store the App's secret")
		refuseForNow(w, http.StatusServiceUnavailable, "cannot store the App's secret")
		return
	}
	zerolog.Ctx(ctx).Info().Str("name", grant.Name).Str("source", name).Msg("accepting a GitHub App's webhooks from now on")
	w.WriteHeader(http.StatusNoContent)
}
