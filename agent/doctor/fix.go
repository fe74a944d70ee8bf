package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"touchstone/agent/setup"
	"touchstone/agent/tempdir"
	"touchstone/agent/trust"
	"touchstone/verdict"
)

// Fix fixes what can be fixed on this machine without a decision by the person, reports it, and returns
// whether the settings have changed. It contacts neither GitHub nor the relay and opens no repository.
func (d *Doctor) Fix(ctx context.Context) (settings bool) {
	if _, err := os.Stat(d.Config.StateDir); errors.Is(err, fs.ErrNotExist) {
		d.fixed("state", "made "+d.Config.StateDir, os.MkdirAll(d.Config.StateDir, 0o700))
	}
	for _, path := range d.exposed() {
		info, err := os.Stat(path)
		if err == nil {
			err = os.Chmod(path, info.Mode().Perm()&^0o007)
		}
		d.fixed("secrets", fmt.Sprintf("%s can now be read only by its owner and group", path), err)
	}
	left, err := tempdir.Clear(d.Config.StateDir)
	if left > 0 || err != nil {
		d.fixed("state", "removed what "+verdict.Amount(left, "killed command", "killed commands")+" had left behind", err)
	}
	if found := setup.Engine(d.Config.Engine); found != d.Config.Engine.Name && d.Config.Path() != "" {
		said, err := setup.Write(d.Config.Path(), setup.UseEngine(d.Config.Engine, found))
		d.fixed("model", fmt.Sprintf("%s in %s; %s is not installed here", strings.Join(said, "; "), d.Config.Path(), d.Config.Engine.Name), err)
		settings = err == nil
	}
	if outdated, old, err := d.service(); outdated || err != nil {
		if err == nil {
			_, err = old.Install(ctx)
		}
		d.fixed("service", fmt.Sprintf("the %s's agent runs as a service of this version", d.Role), err)
	}
	return settings
}

// fixed reports one fix, or why it failed.
func (d *Doctor) fixed(name, did string, err error) {
	c := Result{Name: name, OK: err == nil, Message: did, fix: true}
	if err != nil {
		c.Message = err.Error()
	}
	d.fixes = append(d.fixes, c)
	d.Report(c)
}

// exposed returns the secret files and directories that every user of this machine can read.
func (d *Doctor) exposed() []string {
	return d.Config.Exposed(filepath.Join(d.Config.StateDir, trust.KeyFile))
}

// secrets reports whether others can read secrets.
func (d *Doctor) secrets() (string, error) {
	if open := d.exposed(); len(open) > 0 {
		return "", fmt.Errorf("every user of this machine can read %s; run chmod o= on it, or `touchstone doctor --fix`",
			strings.Join(open, " and "))
	}
	return "no other user of this machine can read them", nil
}

// service returns the service of the role's agent, and whether another version installed it.
func (d *Doctor) service() (outdated bool, found setup.Service, err error) {
	if found, err = setup.ServiceOf(d.Role, d.Config); err == nil {
		outdated, err = found.Outdated()
	}
	return outdated, found, err
}
