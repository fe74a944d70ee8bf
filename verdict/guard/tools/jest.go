package tools

// See https://jestjs.io/docs/configuration.
var jest = []Setting{
	{Keys: "**/coverageThreshold/**", Way: Floor}, {Keys: "**/passWithNoTests", Way: Off, Default: "false"},
	{Keys: "**/testFailureExitCode", Way: Floor, Default: "1"},
	{Keys: "**/testPathIgnorePatterns|coveragePathIgnorePatterns|modulePathIgnorePatterns", Way: Excluded},
	{Keys: "**/collectCoverageFrom", Way: Excluded, Only: prefixed("!")}, {Keys: "**/testMatch|testRegex|roots", Way: Included},
}

var _ = register(
	&Tool{Name: "jest", Files: []string{"jest.config.*", "jest.*.config.*"}, Settings: jest},
	&Tool{Name: "jest", Files: []string{"package.json"}, Within: []string{"jest"}, Settings: jest},
)
