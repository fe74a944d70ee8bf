package tools

import (
	"regexp"
	"strings"
)

// msbuild tells a rule from what was set before, which "$(NoWarn)" stands for, from the
// warning of missing comments, which there is only where documentation is made, and from a
// project's own.
func msbuild(text string) bool {
	return compilerWarning(text) != "1591" && diagnostics.MatchString(text)
}

// diagnostics begin the rules of the compiler and of analyzers; other names are those of a
// project's own, which it allows itself to use.
var diagnostics = regexp.MustCompile(`(?i)^(?:\d|CS|CA|IDE|SA|SX|S\d|NU|IL|SYSLIB|xUnit|NUnit|MSTEST|RCS|RS|VSTHRD|MA|AD|BL|MSB|NETSDK)`)

// compilerWarning is the number of one of the compiler's own warnings: CS0649, 0649 and 649 are the same.
func compilerWarning(name string) string {
	if number := strings.TrimLeft(strings.TrimPrefix(strings.ToUpper(name), "CS"), "0"); number != "" &&
		strings.Trim(number, "0123456789") == "" {
		return number
	}
	return name
}

// See https://learn.microsoft.com/en-us/dotnet/core/project-sdk/msbuild-props#code-analysis-properties.
var _ = register(
	&Tool{Name: "dotnet", Files: []string{"*.csproj", "*.vbproj", "*.fsproj", "*.props", "*.targets"}, Settings: []Setting{
		{Keys: "**/TreatWarningsAsErrors|CodeAnalysisTreatWarningsAsErrors|MSBuildTreatWarningsAsErrors|EnforceCodeStyleInBuild",
			Way: On, Default: "false"},
		{Keys: "**/EnableNETAnalyzers|RunAnalyzers|RunAnalyzersDuringBuild", Way: On, Default: "true"},
		{Keys: "**/IsTestProject", Way: On}, {Keys: "**/Nullable", Way: On},
		{Keys: "**/NoWarn|WarningsNotAsErrors", Way: Ignored, Only: msbuild}, {Keys: "**/WarningsAsErrors", Way: Rules, Only: msbuild},
		{Keys: "**/WarningLevel", Way: Floor, Default: "4"}, {Keys: "**/Threshold", Way: Floor},
		{Keys: "**/PackageReference|GlobalPackageReference/@Include", Way: Rules, Only: isAnalyzer},
		{Keys: "**/ExcludeByFile|ExcludeByAttribute", Way: Excluded}, {Keys: "**/Compile/@Remove", Way: Excluded},
	}, Plain: compilerWarning, Scope: "@Condition"},
	&Tool{Name: "dotnet-rules", Files: []string{"*.ruleset"}, Settings: []Setting{{Keys: "**/Rule/@Action", Way: Grade}}},
	&Tool{Name: "dotnet-rules", Files: []string{".editorconfig", ".globalconfig"},
		Settings: []Setting{{Keys: "*/dotnet_diagnostic.*|dotnet_analyzer_diagnostic.*", Way: Grade},
			{Keys: "dotnet_diagnostic.*|dotnet_analyzer_diagnostic.*", Way: Grade}}},
)
