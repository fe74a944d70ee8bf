package compose

import (
	"context"
	"fmt"
	"path/filepath"

	"touchstone/agent/config"
	"touchstone/agent/remoteconfig"
	"touchstone/agent/remoteguidelines"
	"touchstone/agent/reviewer"
	"touchstone/agent/telemetry"
	"touchstone/guidelines"
	"touchstone/verdict/decide"
)

// remote returns the configured remote guidelines, nil for none.
func remote(cfg config.Config) (remoteguidelines.Texts, error) {
	if cfg.Guidelines == "" || filepath.IsAbs(cfg.Guidelines) { // no token is needed
		return remoteguidelines.Guidelines(cfg.Guidelines, nil)
	}
	client, err := Client(cfg)
	if err != nil {
		return nil, fmt.Errorf("the remote guidelines are in the repository %s: %w", cfg.Guidelines, err)
	}
	return remoteguidelines.Guidelines(cfg.Guidelines, client)
}

// Guidelines returns the built-in documents overlaid with the remote ones, and then with those of each
// directory.
func Guidelines(ctx context.Context, cfg config.Config, dirs ...string) (guidelines.Set, error) {
	set, err := guidelines.Default()
	if err != nil {
		return set, err
	}
	var texts map[string]string
	read, err := remote(cfg)
	if err == nil && read != nil {
		if texts, err = read(ctx); err == nil {
			set, err = remoteguidelines.Lay(set, texts)
		}
	}
	for _, dir := range dirs {
		if err != nil {
			break
		}
		if texts, err = remoteguidelines.ReadDir(dir); err == nil {
			set, err = remoteguidelines.Lay(set, texts)
		}
	}
	return set, err
}

// Examiner builds the examiner of a change from the configuration. It needs no token, unless the remote
// guidelines are in a repository.
func Examiner(ctx context.Context, cfg config.Config, tempDir string) (*reviewer.Examiner, error) {
	live := config.NewLive(cfg, remoteconfig.Of(ctx, cfg))
	if err := CheckModels(live.Config().Engine, decide.Reviewer); err != nil {
		return nil, err
	}
	rules, err := guidelines.Default()
	if err != nil {
		return nil, err
	}
	layer, err := remote(cfg)
	return &reviewer.Examiner{
		Engine: telemetry.Engine{Engine: Models(live, tempDir)}, Guidelines: rules, Pages: cfg.GuidelinesURL, Layer: layer, TempDir: tempDir,
		Settings: func() config.Engine { return live.Config().Engine },
	}, err
}
