// Package person simulates a person with a browser who is signed in to the simulated GitHub: they follow pages
// and submit forms. Only tests and demonstrations use it.
package person

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

// Person is a person with a browser.
type Person struct {
	// GitHub is the address of the simulated GitHub's pages.
	GitHub string
	// Organization is the owner of the App, whatever the page says; if empty, the page decides.
	Organization string
}

var (
	formAction = regexp.MustCompile(`<form method="post" action="([^"]+)"`)
	formOwner  = regexp.MustCompile(`/organizations/[^/]+/`)
	formInput  = regexp.MustCompile(`<input[^>]* name="([^"]+)" value="([^"]*)"`)
)

// MakeApp makes the GitHub App that a page describes, and returns the page on which the App can be installed.
func (p Person) MakeApp(page string) (next string, err error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	browser := &http.Client{Jar: jar}
	text, _, err := Visit(browser.Get(page))
	if p.Organization != "" {
		text = formOwner.ReplaceAllLiteralString(text, "/organizations/"+p.Organization+"/")
	}
	if err == nil {
		text, _, err = p.submit(browser, text) // the page submits this form by itself
	}
	if err == nil { // GitHub asks for confirmation, and sends the browser back to the redirect URL
		_, next, err = p.submit(browser, text)
	}
	return next, err
}

// Install gives the App of a page access to a repository, owner/name; any other text closes the page.
func Install(page, repository string) error {
	owner, _, found := strings.Cut(repository, "/")
	if !found {
		return nil
	}
	_, _, err := Visit(http.PostForm(page, url.Values{"owner": {owner}, "repositories": {repository}}))
	return err
}

// submit submits the form of a page unchanged.
func (p Person) submit(browser *http.Client, text string) (answer, at string, err error) {
	action := formAction.FindStringSubmatch(text)
	if action == nil {
		return "", "", fmt.Errorf("there is no form: %s", text)
	}
	to, err := url.Parse(html.UnescapeString(action[1]))
	if err == nil && !to.IsAbs() {
		var github *url.URL
		if github, err = url.Parse(p.GitHub); err == nil {
			to = github.ResolveReference(to)
		}
	}
	if err != nil {
		return "", "", err
	}
	values := url.Values{}
	for _, input := range formInput.FindAllStringSubmatch(text, -1) {
		values.Set(input[1], html.UnescapeString(input[2]))
	}
	return Visit(browser.PostForm(to.String(), values))
}

// Visit reads a page to its end, and returns its text and final URL. A status other than 200 is an error.
func Visit(response *http.Response, err error) (text, at string, _ error) {
	if err != nil {
		return "", "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), response.Request.URL.String(), err
}
