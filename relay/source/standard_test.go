package source_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"touchstone/relay/source"
)

// The secret and the message with which the libraries of Standard Webhooks are tested:
// https://github.com/standard-webhooks/standard-webhooks/tree/main/libraries
const (
	standardSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	standardID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	standardBody      = `{"test": 2432232314}`
	standardSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

var standardTime = time.Unix(1614265330, 0)

// standardSign signs as the specification says.
func standardSign(secret, id, seconds, body string) string {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		panic(err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + seconds + "." + body))
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func standardHeader(signature string) http.Header {
	return http.Header{
		"Webhook-Id": {standardID}, "Webhook-Timestamp": {fmt.Sprint(standardTime.Unix())}, "Webhook-Signature": {signature},
	}
}

func TestStandardPublishedSignature(t *testing.T) {
	e, err := source.Standard{Secret: standardSecret}.Accept("billing", standardHeader(standardSignature), []byte(standardBody), standardTime)
	if err != nil {
		t.Fatal(err)
	}
	if e.Delivery != standardID || e.Source != "billing" || e.Type != "" || string(e.Payload) != standardBody ||
		e.Headers["Webhook-Id"] != standardID {
		t.Errorf("it is described as %+v", e)
	}
}

func TestStandardSignatures(t *testing.T) {
	other := "whsec_" + base64.StdEncoding.EncodeToString([]byte("another key of enough bytes"))
	seconds := fmt.Sprint(standardTime.Unix())
	otherSignature := standardSign(other, standardID, seconds, standardBody)
	one := source.Standard{Secret: standardSecret}
	two := source.Standard{Secret: other, Previous: standardSecret}
	for name, test := range map[string]struct {
		source source.Standard
		change func(http.Header)
		good   bool
	}{
		"the previous secret": {two, func(http.Header) {}, true},
		"the new secret":      {two, func(h http.Header) { h.Set("webhook-signature", otherSignature) }, true},
		"without whsec_":      {source.Standard{Secret: strings.TrimPrefix(standardSecret, "whsec_")}, func(http.Header) {}, true},
		"another secret":      {one, func(h http.Header) { h.Set("webhook-signature", otherSignature) }, false},
		"one of several": {one, func(h http.Header) {
			h.Set("webhook-signature",
				"v1a,AAAA "+otherSignature+" "+standardSignature)
		}, true},
		"none of several":              {one, func(h http.Header) { h.Set("webhook-signature", "v1a,AAAA "+otherSignature) }, false},
		"another version":              {one, func(h http.Header) { h.Set("webhook-signature", "v2"+standardSignature[2:]) }, false},
		"no base64":                    {one, func(h http.Header) { h.Set("webhook-signature", "v1,!") }, false},
		"empty signature":              {one, func(h http.Header) { h.Set("webhook-signature", "v1,") }, false},
		"no signature":                 {one, func(h http.Header) { h.Del("webhook-signature") }, false},
		"no id":                        {one, func(h http.Header) { h.Del("webhook-id") }, false},
		"another id":                   {one, func(h http.Header) { h.Set("webhook-id", "msg_1") }, false},
		"no time":                      {one, func(h http.Header) { h.Del("webhook-timestamp") }, false},
		"another time":                 {one, func(h http.Header) { h.Set("webhook-timestamp", fmt.Sprint(standardTime.Unix()+1)) }, false},
		"a part of the id as the time": {one, func(h http.Header) { h.Set("webhook-id", standardID+"."+seconds) }, false},
	} {
		header := standardHeader(standardSignature)
		test.change(header)
		e, err := test.source.Accept("billing", header, []byte(standardBody), standardTime)
		if (err == nil) != test.good || err != nil && !errors.Is(err, source.ErrUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
		checkSilent(t, name, e, err, standardSecret, other)
	}
	if _, err := one.Accept("billing", standardHeader(standardSignature), []byte(standardBody),
		standardTime.Add(6*time.Minute)); !errors.Is(err, source.ErrUnauthorized) {
		t.Errorf("six minutes later: %v", err)
	}
}

func TestStandardDescribes(t *testing.T) {
	for body, want := range map[string]string{
		`{"type":"user.created","timestamp":"2022-11-03T20:26:10Z","data":{}}`: "user.created",
		`{"type":"a\u000ab"}`:  "",
		`{"type":"Push Hook"}`: "Push Hook",
		`{"type":7}`:           "",
		`[]`:                   "",
	} {
		e, err := source.Standard{}.Accept("billing", http.Header{}, []byte(body), at)
		if err != nil || e.Type != want || e.Delivery == "" {
			t.Errorf("%s: %+v, %v", body, e, err)
		}
	}
	if _, err := (source.Standard{}).Accept("billing", http.Header{}, []byte("x"), at); err == nil || errors.Is(err, source.ErrUnauthorized) {
		t.Errorf("no JSON: %v", err)
	}
}

func TestStandardSettings(t *testing.T) {
	for secret, good := range map[string]bool{standardSecret: true, standardSecret[6:]: true, "": true, "whsec_": false, "whsec_!": false,
		"my secret": false} {
		if err := (source.Standard{Secret: secret}).Validate(); (err == nil) != good {
			t.Errorf("%q: %v", secret, err)
		}
		if err := (source.Standard{Secret: standardSecret, Previous: secret}).Validate(); (err == nil) != good {
			t.Errorf("%q as the previous one: %v", secret, err)
		}
	}
}

func FuzzStandard(f *testing.F) {
	f.Add([]byte(standardBody), standardID, fmt.Sprint(standardTime.Unix()), standardSignature)
	f.Add([]byte(`{"type":"a"}`), "", "", "v1, v1,= v1a,AA==")
	s := source.Standard{Secret: standardSecret}
	f.Fuzz(func(t *testing.T, body []byte, id, seconds, signatures string) {
		header := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {seconds}, "Webhook-Signature": {signatures}}
		e, err := s.Accept("billing", header, body, standardTime)
		if err != nil {
			return
		}
		right := standardSign(standardSecret, id, seconds, string(body))
		// The last character of base64 can have bits that mean nothing.
		if !strings.Contains(signatures, right[:len(right)-2]) {
			t.Errorf("%q was accepted with %q", body, signatures)
		}
		if e.Delivery == "" || strings.ContainsAny(e.Name(), "\r\n") {
			t.Errorf("%q is described as %+v", body, e)
		}
	})
}
