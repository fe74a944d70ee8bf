package server

import (
	"strconv"
	"strings"
)

// acceptsGzip reports whether the values of Accept-Encoding allow gzip
// (https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3).
func acceptsGzip(values []string) bool {
	others := false
	for element := range strings.SplitSeq(strings.Join(values, ","), ",") {
		coding, parameter, _ := strings.Cut(element, ";")
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			return weight(parameter) > 0
		case "*":
			others = weight(parameter) > 0
		}
	}
	return others
}

// weight returns the value of a q parameter: 1 without one, 0 for one that cannot be read.
func weight(parameter string) float64 {
	name, value, found := strings.Cut(parameter, "=")
	if !found || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil {
		return 0
	}
	return q
}
