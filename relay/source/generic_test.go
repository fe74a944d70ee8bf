package source_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"

	"touchstone/relay/source"
)

func TestGenericAuth(t *testing.T) {
	const password = "a password of some length"
	body := `{"action":"opened"}`
	mac := hmac.New(sha512.New, []byte(secret))
	mac.Write([]byte(body))
	sum := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	prefixed := source.Generic{Secret: secret, Previous: "old", Header: "X-Signature", Prefix: "sha256="}
	long := source.Generic{Auth: "hmac", Secret: secret, Header: "x-signature", Encoding: "base64", Hash: "sha512"}
	bearer := source.Generic{Auth: "bearer", Secret: password, Previous: "an older one of some length"}
	bare := source.Generic{Auth: "bearer", Secret: password, Header: "X-Gitlab-Token"}
	for name, test := range map[string]struct {
		source        source.Generic
		header, value string
		good          bool
	}{
		"signed":                   {prefixed, "X-Signature", "sha256=" + hexHMAC(secret, body), true},
		"signed with the previous": {prefixed, "X-Signature", "sha256=" + hexHMAC("old", body), true},
		"signed with another":      {prefixed, "X-Signature", "sha256=" + hexHMAC("new", body), false},
		"no prefix":                {prefixed, "X-Signature", hexHMAC(secret, body), false},
		"prefix alone":             {prefixed, "X-Signature", "sha256=", false},
		"another header":           {prefixed, "X-Other", "sha256=" + hexHMAC(secret, body), false},
		"another encoding":         {prefixed, "X-Signature", "sha256=" + sum, false},
		"SHA-512 in base64":        {long, "X-Signature", sum, true},
		"hexadecimal":              {long, "X-Signature", hex.EncodeToString(mac.Sum(nil)), false},
		"another hash":             {long, "X-Signature", hexHMAC(secret, body), false},
		"bearer":                   {bearer, "Authorization", "Bearer " + password, true},
		"previous bearer":          {bearer, "Authorization", "Bearer an older one of some length", true},
		"another bearer":           {bearer, "Authorization", "Bearer " + password + "x", false},
		"no bearer":                {bearer, "Authorization", "", false},
		"bare":                     {bare, "X-Gitlab-Token", password, true},
		"another bare":             {bare, "X-Gitlab-Token", "password", false},
		"no bare":                  {bare, "Authorization", password, false},
	} {
		header := http.Header{}
		header.Set(test.header, test.value)
		e, err := test.source.Accept("ci", header, []byte(body), at)
		if (err == nil) != test.good || err != nil && !errors.Is(err, source.ErrUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
		checkSilent(t, name, e, err, secret, password)
	}
}

func TestGenericDescribes(t *testing.T) {
	g := source.Generic{TypeHeader: "X-Gitea-Event", DeliveryHeader: "X-Gitea-Delivery"}
	header := http.Header{"X-Gitea-Event": {"pull_request"}, "X-Gitea-Delivery": {"d-1"}, "Authorization": {"x"},
		"Content-Type": {"application/json"}}
	body := `{"action":"opened","number":7,"repository":{"full_name":"acme/app"},"sender":{"login":"octocat"}}`
	e, err := g.Accept("gitea", header, []byte(body), at)
	if err != nil || e.Name() != "gitea.pull_request" || e.Delivery != "d-1" || e.Action != "opened" || e.Repo != "acme/app" ||
		e.Number != 7 || e.Sender != "octocat" {
		t.Errorf("%+v, %v", e, err)
	}
	if len(e.Headers) != 3 {
		t.Errorf("it keeps the headers %v", e.Headers)
	}
	for _, odd := range []string{"", "plain text", "a=b&c=d", "\xff", "[]"} {
		e, err := g.Accept("gitea", http.Header{"X-Gitea-Event": {"a\nid: 1"}}, []byte(odd), at)
		if err != nil || e.Name() != "gitea" || e.Delivery == "" || string(e.Payload) != odd {
			t.Errorf("%q: %+v, %v", odd, e, err)
		}
	}
}

func TestGenericSettings(t *testing.T) {
	for _, wrong := range []source.Generic{
		{Auth: "basic"},
		{Secret: "s"},
		{Header: "X-Sig", Encoding: "base32"},
		{Header: "X-Sig", Hash: "md5"},
		{Auth: "bearer", Secret: "short"},
		{Auth: "bearer", Hash: "sha256"},
		{Auth: "bearer", Header: "X-Token", TypeHeader: "x-token"},
		{Header: "X-Sig", DeliveryHeader: "authorization"},
		{Header: "X-Sig", TypeHeader: "Cookie"},
	} {
		if err := wrong.Validate(); err == nil {
			t.Errorf("%+v is valid", wrong)
		}
	}
	for _, right := range []source.Generic{
		{Header: "X-Sig", Secret: "s", Prefix: "v1=", Encoding: "base64", Hash: "sha512", TypeHeader: "X-Event"},
		{Auth: "bearer", Secret: "a password of some length"},
		{},
	} {
		if err := right.Validate(); err != nil {
			t.Errorf("%+v: %v", right, err)
		}
	}
}

func FuzzGeneric(f *testing.F) {
	g := source.Generic{Secret: secret, Header: "X-Sig", Prefix: "sha256=", TypeHeader: "X-Type", DeliveryHeader: "X-Id"}
	f.Add([]byte(`{}`), "sha256="+hexHMAC(secret, `{}`), "push", "1")
	f.Add([]byte(`x`), "sha256=", "a\nb", "")
	f.Fuzz(func(t *testing.T, body []byte, signature, kind, id string) {
		header := http.Header{"X-Sig": {signature}, "X-Type": {kind}, "X-Id": {id}}
		e, err := g.Accept("ci", header, body, at)
		good := strings.HasPrefix(signature, "sha256=") && strings.EqualFold(signature, "sha256="+hexHMAC(secret, string(body)))
		if (err == nil) != good {
			t.Errorf("%q with the signature %q: %v", body, signature, err)
		}
		if err == nil && (e.Delivery == "" || strings.ContainsAny(e.Name(), "\r\n")) {
			t.Errorf("%q is described as %+v", body, e)
		}
	})
}
