package trust_test

import (
	"strings"
	"testing"

	"touchstone/agent/forge"
	"touchstone/agent/trust"
	"touchstone/verdict"
)

// TestARecordSurvivesTheSecretsThatItsFindingsQuote checks that a finding about a committed secret leaves the
// record readable and signed, without the secret, and that posting does not change it once more.
func TestARecordSurvivesTheSecretsThatItsFindingsQuote(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	_, pr := machine(t)
	const token = "ghp_0123456789abcdef0123456789abcdef0123"
	for name, tc := range map[string]struct{ claim, secret, want string }{
		"the first line of a private key": {claim: "The file begins with -----BEGIN RSA PRIVATE KEY-----",
			secret: "BEGIN RSA", want: "The file begins with [redacted]"},
		"a private key without its end": {claim: "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ",
			secret: "MIIEvQ", want: "[redacted]"},
		"a password in an address": {claim: "It connects to postgres://admin:hunter2@db.example.com/x", secret: "hunter2",
			want: "It connects to postgres://[redacted]@db.example.com/x"},
		"a token after a tab":      {claim: "token:\t" + token, secret: token, want: "token:\t[redacted]"},
		"a token between brackets": {claim: "<" + token + ">", secret: token, want: "<[redacted]>"},
		"no secret": {claim: `a "quoted" \ claim, see me@example.com <b>`, secret: "\x00",
			want: `a "quoted" \ claim, see me@example.com <b>`},
	} {
		t.Run(name, func(t *testing.T) {
			record := verdict.Record{Verdict: verdict.RequestChanges, Head: strings.Repeat("a", 40), Round: 1, Ledger: verdict.Ledger{
				{ID: "11111111", Status: verdict.Open, Severity: verdict.Critical, Claim: tc.claim, Code: tc.claim},
				{ID: "22222222", Status: verdict.Open, Severity: verdict.Major, Claim: "another one"},
			}}
			seal, err := record.Seal(trust.Signer(key, pr))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(seal, tc.secret) || strings.Contains(seal, "@") || forge.Redact(seal) != seal {
				t.Errorf("it is posted as %s", forge.Redact(seal))
			}
			sealed, err := verdict.ParseSealed(seal)
			if err != nil || !sealed.SignedFor(pr.DatabaseID) || len(sealed.Ledger) != 2 {
				t.Fatalf("it is read as %+v: %v", sealed.Ledger, err)
			}
			if got := sealed.Ledger[0]; got.Claim != tc.want || got.Code != tc.want {
				t.Errorf("the finding claims %q of %q, want %q", got.Claim, got.Code, tc.want)
			}
		})
	}
}
