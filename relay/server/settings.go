package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"touchstone/relay/event"
	"touchstone/relay/hub"
	"touchstone/relay/token"
)

// maxPatchBytes is far above the size of all settings together.
const maxPatchBytes = 64 << 10

// showSettings answers with the settings in force for all agents. Every reader may see them: streams begin
// with them.
func (s *Server) showSettings(w http.ResponseWriter, r *http.Request, _ *token.Grant) {
	settings, err := s.hub.Settings(r.Context())
	if err != nil {
		s.refuseReader(w, r, err)
		return
	}
	reply(w, http.StatusOK, settings)
}

// patchSettings applies a JSON merge patch to the settings, in which null unsets a setting
// (https://www.rfc-editor.org/rfc/rfc7396), and answers with the new settings.
func (s *Server) patchSettings(w http.ResponseWriter, r *http.Request, grant *token.Grant) {
	var patch map[string]*string
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxPatchBytes)).Decode(&patch); err != nil || len(patch) == 0 {
		refuse(w, http.StatusBadRequest, `the body is not a change of settings; send a JSON object such as `+
			`{"engine.review.model":"claude-sonnet-4-5","engine.off":null}`)
		return
	}
	settings, err := s.setSettings(r.Context(), grant, patch)
	switch wrong := (unsettable{}); {
	case errors.As(err, &wrong):
		refuse(w, http.StatusBadRequest, wrong.Error())
	case errors.Is(err, hub.ErrOverloaded):
		refuseForNow(w, http.StatusTooManyRequests, err.Error())
	case err != nil:
		refuseForNow(w, http.StatusServiceUnavailable, "cannot store the settings")
	default:
		reply(w, http.StatusOK, settings)
	}
}

// unsettable is the error of a change of settings that is not allowed, as a sentence.
type unsettable struct{ error }

// setSettings changes the settings for all agents, and logs the outcome.
func (s *Server) setSettings(ctx context.Context, grant *token.Grant, patch map[string]*string) (event.Settings, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	log := zerolog.Ctx(ctx)
	present, err := s.hub.Settings(ctx)
	if err != nil {
		log.Error().Err(err).Msg("cannot read the agents' settings")
		return event.Settings{}, err
	}
	if err := checkPatch(patch, present.Values); err != nil {
		return event.Settings{}, unsettable{err}
	}
	settings, err := s.hub.ChangeSettings(ctx, grant.Name, func(settings map[string]string) {
		for key, value := range patch {
			if value == nil {
				delete(settings, key)
			} else {
				settings[key] = *value
			}
		}
	})
	if err != nil {
		log.Error().Err(err).Msg("cannot store the agents' settings")
		return event.Settings{}, err
	}
	log.Info().Str("name", grant.Name).Stringer("id", settings.ID).Interface("settings", settings.Values).Msg("the agents' settings changed")
	return settings, nil
}

// checkPatch reports, in sentences, all that cannot be set and all that cannot be unset because it is not
// there.
func checkPatch(patch map[string]*string, present map[string]string) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		value := patch[key]
		if value != nil {
			errs = append(errs, event.ValidateSetting(key, *value))
			continue
		}
		// An older relay may have known more keys.
		if _, set := present[key]; !set && !slices.Contains(event.SettingKeys(), key) {
			errs = append(errs, fmt.Errorf("unknown setting %.60q; the settings are %s", key, strings.Join(event.SettingKeys(), ", ")))
		}
	}
	return errors.Join(errs...)
}
