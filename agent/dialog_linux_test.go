package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"touchstone/agent/cli"
	"touchstone/agent/githubsim/simtest"
	"touchstone/agent/terminal/terminaltest"
	"touchstone/worktree/await"
)

// newcomer is who sits at a terminal on which the program runs, on a machine with nothing but a configuration
// that names the simulated GitHub and the model.
type newcomer struct {
	*terminaltest.Terminal
	t    *testing.T
	work string
	seen int // how much of what was written is answered
}

func sitDown(t *testing.T, columns uint16) *newcomer {
	p := &newcomer{t: t, Terminal: terminaltest.New(t, columns, 40), work: t.TempDir()}
	w := newWorld(t, p.work)
	if err := w.config([]string{"{repositories: [], reviewers: []}"}); err != nil {
		t.Fatal(err)
	}
	return p
}

// command is the program on that machine, with the terminal on all of its streams.
func (p *newcomer) command(args ...string) *exec.Cmd {
	provider := httptest.NewServer(http.NotFoundHandler())
	p.t.Cleanup(provider.Close)
	cmd := exec.CommandContext(p.t.Context(), "touchstone", args...)
	cmd.Dir = p.work
	cmd.Env = []string{
		"HOME=" + p.work, "XDG_CONFIG_HOME=" + filepath.Join(p.work, "config"), "XDG_STATE_HOME=" + filepath.Join(p.work, "state"),
		"PATH=" + filepath.Join(p.work, "programs") + ":" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + provider.URL, "GORACE=atexit_sleep_ms=0",
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.File, p.File, p.File
	return cmd
}

// asked waits for a question.
func (p *newcomer) asked(question string) {
	p.t.Helper()
	await.Until(p.t, "the question "+question+"; so far:\n"+p.Whole(), func() bool { return strings.HasSuffix(p.Whole()[p.seen:], question) })
	p.seen = len(p.Whole())
}

func (p *newcomer) answer(question, line string) {
	p.t.Helper()
	p.asked(question)
	if err := p.Type(line); err != nil {
		p.t.Fatal(err)
	}
}

// paste answers a question for a secret once the terminal does not show what is typed.
func (p *newcomer) paste(question, secret string) {
	p.t.Helper()
	p.asked(question)
	await.Until(p.t, "that the secret is hidden", func() bool {
		hidden, err := p.Hides()
		return hidden && err == nil
	})
	if err := p.Type(secret); err != nil {
		p.t.Fatal(err)
	}
}

// program puts a shell script on the PATH.
func (p *newcomer) program(name, script string) {
	p.t.Helper()
	path := filepath.Join(p.work, "programs", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

func (p *newcomer) file(path ...string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{p.work}, path...)...))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

const (
	askToken    = "Paste a GitHub token (it is not shown): "
	askRepos    = "Which repositories, as owner/name, with blanks between them? "
	askReviewer = "Whose reviews count, as logins with blanks between them? "
	askStart    = "Start the author's agent now, and whenever you log in? [Y/n] "
)

// TestAQuestionCanBeStopped stops the program at each question of init. It ends at once, without taking what is
// typed later for an answer, and leaves a terminal that shows what is typed.
func TestAQuestionCanBeStopped(t *testing.T) {
	questions := []string{"Should this machine act as reviewer or as author? ", askToken, askRepos, askReviewer, askStart}
	answers := []string{"author", simtest.Token(alice), "acme/app", judge}
	for i, question := range questions {
		t.Run(question, func(t *testing.T) {
			p := sitDown(t, 120)
			p.program("gh", "exit 1")
			cmd := p.command("init")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for j, answer := range answers[:i] {
				if questions[j] == askToken {
					p.paste(askToken, answer)
				} else {
					p.answer(questions[j], answer)
				}
			}
			p.asked(question)
			if question == askToken {
				await.Until(t, "that the secret is hidden", func() bool { hidden, err := p.Hides(); return hidden && err == nil })
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			if hidden, hides := p.Hides(); hidden || hides != nil {
				t.Errorf("the terminal hides what is typed: %v, %v", hidden, hides)
			}
			if question == askStart { // everything else is done
				if err != nil {
					t.Errorf("%v\n%s", err, p.Whole())
				}
				return
			}
			await.Until(t, "that it says so", func() bool { return strings.Contains(p.Whole(), "touchstone: this was stopped before it finished") })
			if cmd.ProcessState.ExitCode() != cli.ExitInconclusive {
				t.Errorf("%v\n%s", err, p.Whole())
			}
		})
	}
}

func TestInitAsksOnATerminal(t *testing.T) {
	p := sitDown(t, 120)
	p.program("gh", "exit 1")
	cmd := p.command("init")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.answer("Should this machine act as reviewer or as author? ", "author")
	p.paste(askToken, simtest.Token(alice))
	p.answer(askRepos, "acme/app")
	p.answer(askReviewer, judge)
	p.answer(askStart, "n")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, p.Whole())
	}
	await.Until(t, "what to do next", func() bool { return strings.Contains(p.Whole(), "start it with `touchstone run --mode author`") })
	if strings.Contains(p.Whole(), simtest.Token(alice)) {
		t.Error("the token is on the screen")
	}
	if got := p.file("config", "touchstone", "github-token"); got != simtest.Token(alice)+"\n" {
		t.Errorf("the token's file has %d bytes", len(got))
	}
	settings := p.file("config", "touchstone", "agent.yaml")
	for _, want := range []string{"acme/app", judge, "token_file: github-token"} {
		if !strings.Contains(settings, want) {
			t.Errorf("the settings lack %s:\n%s", want, settings)
		}
	}
}

func TestJoinAsksOnATerminal(t *testing.T) {
	p := sitDown(t, 120)
	p.program("gh", "exit 1")
	p.program("systemctl", `echo "$*" >>"$HOME/told"`)
	relay := inviting("author")
	defer relay.Close()
	cmd := p.command("join", relay.URL+"/join#"+invitation)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.paste(askToken, simtest.Token(alice))
	p.answer(askRepos, "acme/app")
	p.answer(askStart, "")
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, p.Whole())
	}
	if told := p.file("told"); !strings.Contains(told, "restart touchstone-author") {
		t.Errorf("systemd was told %q", told)
	}
	if strings.Contains(p.Whole(), askReviewer) {
		t.Errorf("it asks for the reviewers that the invitation names:\n%s", p.Whole())
	}
}

// TestNothingIsAskedInAPipe provides answers on a pipe and checks that they are not read.
func TestNothingIsAskedInAPipe(t *testing.T) {
	p := sitDown(t, 120)
	p.program("gh", "exit 1")
	relay := inviting("author")
	defer relay.Close()
	answers := "author\n" + simtest.Token(alice) + "\nacme/app\n" + judge + "\ny\n"
	for args, want := range map[string]string{
		"init":               "--mode is missing",
		"init --mode author": "there is no login for GitHub",
		"join " + relay.URL + "/join#" + invitation: "there is no login for GitHub",
	} {
		cmd := p.command(strings.Fields(args)...)
		in, said := strings.NewReader(answers), bytes.Buffer{}
		// What is written is looked at, as in `touchstone init 2>log`; so is what is read.
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &said, &said
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(said.String(), want) || strings.Contains(said.String(), "? ") {
			t.Errorf("%s: %v\n%s", args, err, &said)
		}
	}
	if p.Whole() != "" {
		t.Errorf("it writes to the terminal: %q", p.Whole())
	}
	if _, err := os.Stat(filepath.Join(p.work, "config", "touchstone", "github-token")); !os.IsNotExist(err) {
		t.Errorf("a token was taken from the pipe: %v", err)
	}
}

// On a terminal what doctor says keeps within it, and in a pipe each result is a line.
func TestDoctorKeepsWithinTheTerminal(t *testing.T) {
	p := sitDown(t, 80)
	cmd := p.command("doctor")
	_ = cmd.Run() // there is no login
	await.Until(t, "how it ended", func() bool { return strings.Contains(p.Whole(), "checks found a problem") })
	lines := strings.Split(strings.ReplaceAll(p.Whole(), "\r", ""), "\n")
	broken := 0
	for _, line := range lines {
		rest, continued := strings.CutPrefix(line, strings.Repeat(" ", 22))
		if continued {
			broken++
		}
		if words := strings.Fields(rest); len([]rune(line)) > 80 && len(words) > 1 && len(words[len(words)-1]) < 58 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
	if broken == 0 {
		t.Errorf("no result takes a second line:\n%s", p.Whole())
	}
	cmd = p.command("doctor")
	var said bytes.Buffer
	cmd.Stdout = &said
	_ = cmd.Run()
	if strings.Contains(said.String(), "\n ") || !strings.Contains(said.String(), "\nok       sandbox ") {
		t.Errorf("in a pipe:\n%s", &said)
	}
}
