package tools

import "strings"

// Tools that only set a number or two.
var _ = register(
	&Tool{Name: "coveralls", Files: []string{".coveralls.yml"}, Settings: []Setting{{Keys: "**/minimum", Way: Floor}}},
	&Tool{Name: "tarpaulin", Files: []string{"tarpaulin.toml", ".tarpaulin.toml"},
		Settings: []Setting{{Keys: "*/fail-under", Way: Floor}, {Keys: "*/exclude-files", Way: Excluded}}},
	&Tool{Name: "go-test-coverage", Files: []string{".testcoverage.yml", ".testcoverage.yaml"}, Settings: []Setting{
		{Keys: "threshold/*", Way: Floor}, {Keys: "override/[]/threshold", Way: Floor}, {Keys: "exclude/paths", Way: Excluded},
	}},
	&Tool{Name: "sonar", Files: []string{"sonar-project.properties"}, Settings: []Setting{
		{Keys: "sonar.qualitygate.wait", Way: On, Default: "false"}, {Keys: "sonar.*exclusions", Way: Excluded},
	}},
	&Tool{Name: "size-limit", Files: []string{".size-limit.json"}, Settings: []Setting{{Keys: "[]/limit", Way: Ceiling}}},
	&Tool{Name: "interrogate", Files: []string{"pyproject.toml"}, Within: []string{"tool/interrogate"},
		Settings: []Setting{{Keys: "fail-under", Way: Floor}}},
	&Tool{Name: "ignore-file", Files: []string{".eslintignore", ".stylelintignore", ".semgrepignore", ".trivyignore",
		".gitleaksignore", ".covignore", "*flaky*.txt", "*quarantine*.txt", "*known*fail*.txt", "*skip*tests*.txt"}, Settings: []Setting{
		{Keys: "[]", Way: Excluded, Only: func(s string) bool { return !strings.HasPrefix(s, "#") }},
	}},
	&Tool{Name: "testscript", Files: []string{"*.txtar", "testscripts/*.txt", "testscripts/*/*.txt"}, Settings: []Setting{
		{Keys: "[]", Way: Excluded, Only: func(s string) bool {
			return s == "skip" || strings.HasSuffix(s, "] skip") || strings.HasPrefix(s, "skip '")
		}},
	}},
)
