package gateway

import (
	"net/http"
	"testing"
	"time"
)

// FuzzRefusal holds that any answer of a provider has a class, and a time to wait
// within bounds.
func FuzzRefusal(f *testing.F) {
	f.Add(429, "30", `{"error":{"type":"rate_limit_error","message":"slow down"}}`)
	f.Add(400, "Fri, 31 Dec 1999 23:59:59 GMT", `{"error":{"code":null,"message":7}}`)
	f.Add(599, "-1", `{"error":"text"}`)
	f.Add(0, "99999999999999999999", "\xff")
	f.Fuzz(func(t *testing.T, status int, after, body string) {
		r := refusalOf(&http.Response{StatusCode: status, Header: http.Header{"Retry-After": {after}}}, []byte(body))
		if r.Class() == "" || r.RetryAfter < 0 || r.RetryAfter > 24*time.Hour {
			t.Errorf("refusal = %+v", r)
		}
	})
}
