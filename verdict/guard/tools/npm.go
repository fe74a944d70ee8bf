package tools

// See https://docs.npmjs.com/cli/configuring-npm/package-json#workspaces.
var _ = register(
	&Tool{Name: "workspaces", Files: []string{"package.json", "lerna.json", "pnpm-workspace.yaml"},
		Settings: []Setting{{Keys: "workspaces|packages", Way: Included}, {Keys: "workspaces/packages", Way: Included}}},
	&Tool{Name: "size-limit", Files: []string{"package.json"}, Settings: []Setting{{Keys: "size-limit/[]/limit", Way: Ceiling},
		{Keys: "bundlesize/[]/maxSize", Way: Ceiling}}},
	&Tool{Name: "lint-staged", Files: []string{"package.json"}, Settings: []Setting{{Keys: "lint-staged/**", Way: Included}}},
)
