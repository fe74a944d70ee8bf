package tools

// See https://stryker-mutator.io/docs/stryker-js/configuration/.
var _ = register(&Tool{
	Name:     "stryker",
	Files:    []string{"stryker.conf.*", "stryker.config.*", "stryker-config.json"},
	Settings: []Setting{{Keys: "**/thresholds/*", Way: Floor}, {Keys: "**/mutate", Way: Excluded, Only: prefixed("!")}},
})
