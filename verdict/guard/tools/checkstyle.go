package tools

// See https://checkstyle.org/config.html, https://spotbugs.readthedocs.io/en/stable/filter.html and
// https://developer.android.com/studio/write/lint.
var _ = register(
	&Tool{Name: "checkstyle", Files: []string{"checkstyle*.xml", "*_checks.xml"},
		Settings: []Setting{{Keys: "**/module/@name", Way: Rules}, {Keys: "**/suppress/@files|@checks", Way: Excluded}}},
	&Tool{Name: "suppressions", Files: []string{"*suppress*.xml", "*exclude*.xml"},
		Settings: []Setting{{Keys: "**/@files|@checks|@name|@pattern", Way: Excluded}}},
	&Tool{Name: "android-lint", Files: []string{"lint.xml"}, Settings: []Setting{{Keys: "**/issue/@severity", Way: Grade},
		{Keys: "**/ignore/@path", Way: Excluded}}},
)
