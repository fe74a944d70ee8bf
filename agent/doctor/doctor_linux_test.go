package doctor

import (
	"strings"
	"testing"

	"touchstone/agent/config"
	"touchstone/agent/engine/enginetest"
)

func TestDoctorTellsOfAMissingSandbox(t *testing.T) {
	if !enginetest.Unconfined(t) {
		return
	}
	for setting, want := range map[string]string{
		config.Auto:     "ok       sandbox      none: this Linux has no Landlock",
		config.Required: "problem  sandbox      engine.sandbox is required, but there is no sandbox here",
		config.Off:      "ok       sandbox      turned off by engine.sandbox",
	} {
		var out strings.Builder
		d := Doctor{Report: Print(&out), Config: config.Default()}
		d.Config.Engine.Sandbox = setting
		d.check("sandbox", func() (string, error) { return sandboxed(d.Config.Engine) })
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("%s: %s", setting, &out)
		}
	}
}
