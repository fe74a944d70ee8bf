package service

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// agent is a launchd agent (launchd.plist(5)).
const agent = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by service install, version {{.Version}}, which overwrites it. -->
<plist version="1.0">
<dict>
	<key>Label</key><string>{{.Label}}</string>
	<key>ProgramArguments</key>
	<array>
		<string>/bin/sh</string><string>-c</string><string>{{escape .Waiting}}</string>
		<string>{{escape .Program}}</string>{{.Words}}
	</array>
	<key>EnvironmentVariables</key><dict><key>PATH</key><string>{{escape .Path}}</string></dict>
	<key>RunAtLoad</key><true/>
	<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
	<key>ExitTimeOut</key><integer>60</integer>
	<key>StandardOutPath</key><string>{{escape .Log}}</string>
	<key>StandardErrorPath</key><string>{{escape .Log}}</string>
</dict>
</plist>
`

// plistStrings formats values for a property list.
func plistStrings(values []string) string {
	var out strings.Builder
	for _, value := range values {
		text, _ := escape(value) // writing to memory does not fail
		out.WriteString("<string>" + text + "</string>")
	}
	return out.String()
}

// waiting is a shell script that runs a command, passes SIGTERM on to it, and exits with its code, but with 0
// for a mistake: launchd distinguishes only success and failure. A signal may arrive before the command has
// started, or interrupt a wait; the next wait then returns the outcome. Code 127 says that an earlier wait
// returned it.
const waiting = `trap told=1 TERM
"$0" "$@" & child=$!
trap 'again=1; kill $child 2>/dev/null' TERM
[ -z "$told" ] || kill $child
code=127
while again=; wait $child; now=$?; [ $now = 127 ] || code=$now; [ -n "$again" ]; do :; done
[ $code = 2 ] || exit $code`

// task is a scheduled task that starts when the user logs on, in the user's session
// (https://learn.microsoft.com/windows/win32/taskschd/task-scheduler-schema).
const task = `<?xml version="1.0"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>{{.Name}}, version {{.Version}}, written by service install</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled><UserId>{{escape .User}}</UserId></LogonTrigger></Triggers>
  <Principals><Principal id="Author"><UserId>{{escape .User}}</UserId><LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel></Principal></Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
  </Settings>
  <Actions Context="Author"><Exec><Command>cmd.exe</Command><Arguments>{{escape .Line}}</Arguments></Exec></Actions>
</Task>
`

// line is a shell command line that runs a command, and restarts it whenever it ends other than with a
// mistake: a task is not restarted because of its program's exit code, and has no standard error of its own.
func line(run, log string) string {
	return fmt.Sprintf(`/d /s /c "for /l %%i in (1,0,2) do (%s 2>> "%s" & `+
		`(if errorlevel %d if not errorlevel %d exit 0) & ping -n 6 127.0.0.1 >nul)"`, run, log, mistakeCode, mistakeCode+1)
}

// escape writes a value as XML text.
func escape(value string) (string, error) {
	var out strings.Builder
	err := xml.EscapeText(&out, []byte(value))
	return out.String(), err
}
