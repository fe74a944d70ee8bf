package tools

import (
	"slices"
	"strings"
)

// analyzers are parts of the names of packages and plugins that check.
var analyzers = strings.Fields("analyzer stylecop errorprone nullaway checkstyle spotbugs pmd jacoco enforcer detekt ktlint " +
	"surefire failsafe roslynator animal-sniffer japicmp revapi")

// isAnalyzer tells the packages and plugins that check from those that build.
func isAnalyzer(name string) bool {
	return slices.ContainsFunc(analyzers, func(part string) bool { return strings.Contains(strings.ToLower(name), part) })
}

// See https://maven.apache.org/pom.html. What is set in a profile holds only where that is
// chosen.
var _ = register(&Tool{
	Name:  "maven",
	Files: []string{"pom.xml"},
	Settings: []Setting{
		{Keys: "project/profiles/**/skip|skipTests|skipITs|testFailureIgnore|maven.test.*", Way: Excluded, Only: on},
		{Keys: "**/limit/minimum", Way: Floor},
		{Keys: "**/mutationThreshold|coverageThreshold", Way: Floor},
		{Keys: "**/failOnViolation|failsOnError|failOnError|failOnWarning|failOnWarnings|haltOnFailure", Way: On, Default: "true"},
		{Keys: "**/skip*Tests|skip*Testsuite|skipITs|testFailureIgnore|maven.test.skip|maven.test.failure.ignore", Way: Off, Default: "false"},
		{Keys: "**/compilerArgs/arg", Way: Rules, Only: prefixed("-Werror", "-Xlint")},
		{Keys: "**/plugin/artifactId", Way: Rules, Only: isAnalyzer},
		{Keys: "**/excludes/exclude", Way: Excluded}, {Keys: "**/excludedGroups", Way: Excluded},
		{Keys: "**/modules/module", Way: Included},
		{Keys: "**/rerunFailingTestsCount", Way: Excluded, Only: func(s string) bool { return s != "0" }},
	},
})
