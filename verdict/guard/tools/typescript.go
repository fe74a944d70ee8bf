package tools

// See https://www.typescriptlang.org/tsconfig/.
var _ = register(&Tool{
	Name:  "typescript",
	Files: []string{"tsconfig.json", "tsconfig.*.json", "tsconfig-*.json", "jsconfig.json"},
	Settings: []Setting{
		{Keys: "compilerOptions/strict", Way: On},
		{Keys: "compilerOptions/strict*|noImplicitAny|noImplicitThis|alwaysStrict|useUnknownInCatchVariables", Way: On, Implied: "strict"},
		{Keys: "compilerOptions/noUnused*|noImplicit*|noFallthroughCasesInSwitch|noUnchecked*|noProperty*|exactOptionalPropertyTypes|checkJs|" +
			"forceConsistentCasingInFileNames|noEmitOnError", Way: On},
		{Keys: "compilerOptions/skipLibCheck|allowUnreachableCode|allowUnusedLabels|suppress*", Way: Off},
		{Keys: "exclude", Way: Excluded}, {Keys: "include|files", Way: Included},
	},
})
