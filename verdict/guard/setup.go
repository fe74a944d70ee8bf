package guard

import (
	"path"
	"regexp"
	"strings"
)

// isSetup reports whether a file of this name is run before the tests of others.
func isSetup(name string) bool {
	return matches(name, "conftest.py", "jest.setup.*", "jest-setup.*", "setupTests.*", "setup-tests.*", "vitest.setup.*", "vitest-setup.*", "test-setup.*", "setup-jest.*", "spec_helper.rb", "rails_helper.rb", "test_helper.rb", ".simplecov", "minitest_helper.rb")
}

var (
	// endsWell are lines by which a run ends well, repeats what fails, or measures
	// less, whatever its tests say.
	endsWell = regexp.MustCompile(`\b(?:exit!?|_exit|process\.exit|sys\.exit|os\._exit)\(?\s*0?\s*\)|\bexit(?:status|Code|_code)\s*=\s*0|\bjest\.retryTimes\(|\bretryTimes\s*=|\bthis\.retries\(|\.default_retry_count\s*=|\bRetry\.default|\bfilter_run(?:_excluding|_including)?\b|\.around\b.*\brescue\b`)
	// unmeasured are lines of SimpleCov that leave code out.
	unmeasured = regexp.MustCompile(`^(?:SimpleCov\.)?(?:add_filter|track_files|skip_token|nocov_token)\b`)
)

// setups finds what is new in the files that all tests run after, and lets a run pass
// that would have failed.
func setups(f *file) []Hit {
	if !isSetup(f.new.path) || f.old.path == "" {
		return nil
	}
	had := map[string]bool{}
	for i := range f.old.lines {
		had[f.old.at(i+1)] = true
	}
	measured := strings.Contains(f.old.text, "SimpleCov") || path.Base(f.old.path) == ".simplecov"
	for i := range f.new.lines {
		switch text := f.new.at(i + 1); {
		case had[text] || text == "" || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "//"):
		case endsWell.MatchString(text) && !quoted(text, endsWell.FindStringIndex(text)[0]):
			return []Hit{{Test, f.path(), i + 1, "", text, "By this a run of tests may end well although one failed."}}
		case measured && unmeasured.MatchString(text):
			return []Hit{{Threshold, f.path(), i + 1, "", text, "Less code is measured than before."}}
		}
	}
	return nil
}
