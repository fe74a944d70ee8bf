package wizard

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/cli"
	"touchstone/agent/config"
	"touchstone/agent/forge"
)

// TestAnAppThatWasDeletedIsMadeAgain checks that `touchstone app create`, which doctor names where GitHub does not know the
// App of agent.yaml any more, does not stop at that App again. If GitHub does not accept the key, the App is still there.
func TestAnAppThatWasDeletedIsMadeAgain(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for status, said := range map[int]string{
		http.StatusNotFound: "Integration not found", http.StatusUnauthorized: "A JSON web token could not be decoded",
	} {
		github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"message":"` + said + `"}`))
		}))
		defer github.Close()
		path := filepath.Join(t.TempDir(), "agent.yaml")
		for name, text := range map[string]string{
			"agent.yaml":       "github: {api_url: " + github.URL + ", app_id: 7, app_key_file: github-app-7.pem}\nreview: all\n",
			"github-app-7.pem": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		} {
			if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cfg, err := config.Load(path, func(string) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		a := App{Dialog: &cli.Dialog{Out: &out}, Config: cfg, GitHub: forge.Config{APIURL: github.URL}}
		app, err := a.existing(t.Context())
		if gone := status == http.StatusNotFound; app != nil || (err == nil) != gone || strings.Contains(out.String(), "any more") != gone {
			t.Errorf("where GitHub answers %s, it goes on with %v and %v, and says %q", said, app, err, &out)
		}
	}
}
