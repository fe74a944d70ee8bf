package tools

// See https://www.scala-sbt.org/1.x/docs/Testing.html, and for coverage https://github.com/scoverage/sbt-scoverage.
var _ = register(&Tool{
	Name:  "sbt",
	Files: []string{"*.sbt"},
	Settings: []Setting{
		{Keys: "**/*FatalWarnings|*FatalWarningsInCi", Way: On, Default: "true"}, {Keys: "**/coverageFailOnMinimum|coverageEnabled", Way: On},
		{Keys: "**/coverageMinimum*", Way: Floor}, {Keys: "**/coverageExcluded*", Way: Excluded},
	},
})
