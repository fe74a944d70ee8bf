package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	// SettingsName is the name of the frame of Settings. It is also the name of the event that keeps them in the
	// log; that event's payload is the values.
	SettingsName = SettingsSource + "." + settingsType
	// SettingsSource is the source of that event.
	SettingsSource = "relay"

	settingsType = "control"
)

// Settings are what an administrator of the relay has set for all agents. They go to every subscriber, always all of
// them: a setting that was among the earlier ones and is not among these is no longer set.
type Settings struct {
	// ID is the event that set them; zero if nothing was ever set.
	ID Cursor `json:"id,omitzero"`
	// Values are by the settings' keys. A relay accepts only settings that ValidateSetting accepts.
	// Which of them an agent knows depends on its version.
	Values map[string]string `json:"settings"`
	// By is the name of the administrator's token; empty where the relay has no tokens.
	By string `json:"by,omitempty"`
	// At is when they were set, in UTC, to the millisecond.
	At time.Time `json:"at,omitzero"`
}

// Event returns the settings as the log keeps them, without an ID and a delivery.
func (s Settings) Event() (Event, error) {
	payload, err := json.Marshal(s.Values)
	if err != nil {
		return Event{}, fmt.Errorf("encode settings: %w", err)
	}
	return Event{Source: SettingsSource, Type: settingsType, Sender: s.By, ReceivedAt: s.At, Payload: payload}, nil
}

// IsSettings reports whether the event holds settings rather than a webhook.
func (e Event) IsSettings() bool { return e.Source == SettingsSource && e.Type == settingsType }

// Settings reads an event that Settings.Event made.
func (e Event) Settings() (Settings, error) {
	s := Settings{ID: e.ID, By: e.Sender, At: e.ReceivedAt}
	if err := json.Unmarshal(e.Payload, &s.Values); err != nil || s.Values == nil {
		return Settings{}, fmt.Errorf("event %s has no settings", e.ID)
	}
	return s, nil
}

// AppendFrame appends the settings' frame to dst; it moves the cursor to at. That is the settings' own position in
// the log or, for a subscriber that begins after them, the subscriber's position.
func (s Settings) AppendFrame(dst []byte, at Cursor) ([]byte, error) {
	return appendControl(dst, SettingsName, s, at)
}

// settings are the keys that administrators may set through a relay; the value says whether the setting is a
// list. The settings choose among models and engines, and nothing else: an administrator of the relay must
// not be able to run commands on the agents' machines, read their keys, or approve. So no key names a
// program, a path, an address or a right, and none turns a protection off.
var settings = map[string]bool{
	"engine.model":           false,
	"engine.review.model":    false,
	"engine.models.trivial":  false,
	"engine.models.lite":     false,
	"engine.models.full":     false,
	"engine.models.fix":      false,
	"engine.models.conflict": false,
	"engine.models.check":    false,
	"engine.fallback":        true,
	"engine.off":             true,
}

// maxModels bounds the length of a list.
const maxModels = 20

// model matches a model's name as the engines take it, alone or after an engine, as in codex:gpt-5. Neither
// part can be mistaken for a command-line option, nor the whole for more than one word.
var model = regexp.MustCompile(`^[A-Za-z0-9](:?[A-Za-z0-9._/@+\[\]]|-)*:?$`)

// maxModelLength is in bytes, far above any model's name.
const maxModelLength = 128

// maxValue is in bytes. A longer value is not even read: agents check their relay's settings every second.
const maxValue = maxModels * (maxModelLength + 1)

// secret matches the beginnings of keys and tokens that people have at hand when they set up models.
var secret = regexp.MustCompile(`(?i)(^|:)(sk-|rly_|gh[a-z]_|github_pat_|xox|aiza|eyj)`)

// SettingKeys returns the keys that ValidateSetting knows, sorted.
func SettingKeys() []string { return slices.Sorted(maps.Keys(settings)) }

// ValidateSetting says, in a sentence, why a setting cannot be accepted. A list is written with commas, and may be empty.
func ValidateSetting(key, value string) error {
	list, known := settings[key]
	switch {
	case !known:
		return fmt.Errorf("%.60q cannot be set from a relay; the settings are %s", key, strings.Join(SettingKeys(), ", "))
	case len(value) > maxValue:
		return fmt.Errorf("the value of %s has %d bytes; at most %d are allowed", key, len(value), maxValue)
	case !list:
		return validateModel(key, value)
	case value == "":
		return nil
	}
	models := strings.Split(value, ",")
	if len(models) > maxModels {
		return fmt.Errorf("%s has %d models; at most %d are allowed", key, len(models), maxModels)
	}
	var errs []error
	for _, name := range models {
		errs = append(errs, validateModel(key, name))
		if key == "engine.off" && !strings.Contains(name, ":") && !IsModelPart(name) {
			errs = append(errs, fmt.Errorf("%s=%.20s could switch off other models too; write the name with its engine, such as codex:o3, or a "+
				"part of at least %d characters and one letter, such as opus", key, name, minPart))
		}
	}
	return errors.Join(errs...)
}

// minPart is how long a part of a model's name has to be to stand for all models whose names contain it.
const minPart = 4

// IsModelPart reports whether a name in engine.off stands for all models whose names contain it, and not only
// for the model with exactly this name: shorter names and plain numbers would also match models that were not
// meant.
func IsModelPart(name string) bool {
	return len(name) >= minPart && strings.ContainsFunc(name, unicode.IsLetter)
}

// validateModel keeps possible secrets out of its errors.
func validateModel(key, name string) error {
	switch {
	case secret.MatchString(name):
		return fmt.Errorf("the value of %s looks like a key or an access token; write a model's name, which all readers of events see", key)
	case len(name) > maxModelLength || !model.MatchString(name):
		return fmt.Errorf("%s must be the name of a model, such as claude-sonnet-4-5 or codex:gpt-5: at most 128 letters, digits and . _ : / @ "+
			"+ [ ] -, and no - in front", key)
	}
	return nil
}
