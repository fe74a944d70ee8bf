package githubsim

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"touchstone/worktree/steps"
)

// manifest is the description from which an app is registered.
// https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
type manifest struct {
	Name           string            `json:"name"`
	URL            string            `json:"url"`
	RedirectURL    string            `json:"redirect_url"`
	Events         []string          `json:"default_events"`
	Permissions    map[string]string `json:"default_permissions"`
	HookAttributes struct {
		URL    string `json:"url"`
		Active *bool  `json:"active"`
	} `json:"hook_attributes"`
}

// registration is an app whose manifest's code is to be exchanged.
type registration struct {
	manifest
	organization string // empty if a person owns the app
	begun        time.Time
}

// codeLife is how long a manifest's code can be exchanged, which works once.
const codeLife = time.Hour

// registerPage asks the person whether to create the app: they can change the name, and see the rest.
var registerPage = template.Must(template.New("").Parse(`<!doctype html><title>Register new GitHub App</title>
<h1>Register {{with .Organization}}{{.}}'s{{else}}your{{end}} GitHub App</h1>
<form method="post" action="/settings/apps/new/confirmed?state={{.State}}&amp;organization={{.Organization}}">
<label>GitHub App name <input name="name" value="{{.Name}}"></label>
<input type="hidden" name="manifest" value="{{.Manifest}}">
<ul>{{range $what, $may := .Permissions}}<li>{{$what}}: {{$may}}</li>{{end}}</ul>
<button>Create GitHub App</button></form>`))

// installPage lets the person choose the app's repositories.
var installPage = template.Must(template.New("").Parse(`<!doctype html><title>Install {{.}}</title>
<h1>Install {{.}}</h1><form method="post"><label>Owner <input name="owner"></label>
<label>Repositories <input name="repositories"></label><button>Install</button></form>`))

// pages serves the pages that a person's browser visits to create an app, and job logs. The browser is signed in as
// the first administrator.
func (s *Sim) pages() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /settings/apps/new", s.showManifest)
	mux.HandleFunc("POST /organizations/{organization}/settings/apps/new", s.showManifest)
	mux.HandleFunc("POST /settings/apps/new/confirmed", s.register)
	mux.HandleFunc("GET /apps/{app}/installations/new", s.showInstall)
	mux.HandleFunc("POST /apps/{app}/installations/new", s.installByHand)
	mux.HandleFunc("GET "+logs+"{run}", s.serveLog)
	return mux
}

// readManifest reads the manifest in a form. If it is not valid, it answers, and returns false.
func readManifest(w http.ResponseWriter, r *http.Request) (m manifest, valid bool) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := json.Unmarshal([]byte(r.PostFormValue("manifest")), &m); err != nil || !m.valid() {
		http.Error(w, "Invalid GitHub App configuration", http.StatusUnprocessableEntity)
		return m, false
	}
	return m, true
}

func (s *Sim) showManifest(w http.ResponseWriter, r *http.Request) {
	m, valid := readManifest(w, r)
	if !valid {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = registerPage.Execute(w, map[string]any{
		"Organization": r.PathValue("organization"), "State": r.URL.Query().Get("state"), "Name": m.Name,
		"Manifest": r.PostFormValue("manifest"), "Permissions": m.Permissions,
	})
}

func (m manifest) valid() bool {
	return absolute(m.URL) && absolute(m.RedirectURL) && absolute(m.HookAttributes.URL) && len(m.Permissions) > 0
}

// register handles the person's click: it starts the registration, and sends the browser back with the code.
func (s *Sim) register(w http.ResponseWriter, r *http.Request) {
	m, valid := readManifest(w, r)
	if !valid {
		return
	}
	m.Name = r.PostFormValue("name")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.findAccount(slugOf(m.Name)+"[bot]") != nil || slugOf(m.Name) == "" {
		http.Error(w, "Name is already taken", http.StatusUnprocessableEntity)
		return
	}
	code := randomHex(20)
	s.registrations[code] = registration{manifest: m, organization: r.URL.Query().Get("organization"), begun: s.Now()}
	back, _ := url.Parse(m.RedirectURL)
	query := back.Query()
	query.Set("code", code)
	query.Set("state", r.URL.Query().Get("state"))
	back.RawQuery = query.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (s *Sim) showInstall(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = installPage.Execute(w, r.PathValue("app"))
}

func (s *Sim) installByHand(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := s.Install(r.PathValue("app")+"[bot]", r.PostFormValue("owner"), strings.Fields(r.PostFormValue("repositories"))...); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	}
}

// convert exchanges a manifest's code for the app, once. Anybody with the code may do it.
// https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest
func (c *call) convert() reply {
	code := c.r.PathValue("code")
	begun, found := c.sim.registrations[code]
	delete(c.sim.registrations, code)
	if !found || begun.begun.Add(codeLife).Before(c.sim.Now()) {
		return fail(errNotFound)
	}
	key := steps.Got(rsa.GenerateKey(rand.Reader, 2048))
	id := c.sim.id()
	c.sim.addAccount(User{Login: slugOf(begun.Name) + "[bot]", Token: randomHex(20), App: true, AppID: strconv.FormatInt(id, 10),
		AppKey: &key.PublicKey})
	app := c.sim.accounts[len(c.sim.accounts)-1]
	app.registered = &begun
	hook := app.hooks.hooks[0]
	hook.url, hook.events, hook.secret = begun.HookAttributes.URL, begun.Events, randomHex(20)
	hook.active = begun.HookAttributes.Active == nil || *begun.HookAttributes.Active
	out := c.sim.renderApp(app)
	out["client_id"], out["client_secret"], out["webhook_secret"] = "Iv23"+randomHex(8), randomHex(20), hook.secret
	out["pem"] = string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	return created(out)
}

// RevokeKeys deletes an app's private keys, as a person does in its settings.
func (s *Sim) RevokeKeys(app string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.findAccount(app); a != nil {
		a.AppKey = &rsa.PublicKey{N: a.AppKey.N, E: 3}
	}
}

// Hook returns the URL of an app's webhook, and the secret that signs it.
func (s *Sim) Hook(app string) (address, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.findAccount(app)
	if a == nil || a.hooks == nil {
		return "", ""
	}
	return a.hooks.hooks[0].url, a.hooks.hooks[0].secret
}

// Apps returns the logins of the apps that were registered from manifests.
func (s *Sim) Apps() (logins []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.accounts {
		if a.registered != nil {
			logins = append(logins, a.Login)
		}
	}
	return logins
}

var notInSlug = regexp.MustCompile(`[^a-z0-9]+`)

// slugOf returns an app's name as used in URLs.
func slugOf(name string) string {
	return strings.Trim(notInSlug.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

func (a *account) slug() string { return strings.TrimSuffix(a.Login, "[bot]") }

// number returns the app's id.
func (a *account) number() int64 { return cmp.Or(idOf(a.AppID), a.id) }

func randomHex(bytes int) string {
	raw := make([]byte, bytes)
	_, _ = rand.Read(raw) // never fails: https://pkg.go.dev/crypto/rand#Read
	return hex.EncodeToString(raw)
}
