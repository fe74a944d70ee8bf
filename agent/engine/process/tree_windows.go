package process

import (
	"fmt"
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"

	"touchstone/agent/engine/sandbox"
)

// tree is the child with all its descendants, in a job object. Windows ends the job when its last handle is
// closed, so also when this program is killed.
type tree struct{ job windows.Handle }

// start starts cmd and puts it into a job object of its own.
func start(cmd *exec.Cmd, _ string, _ *sandbox.Rules, _ Bounds) (*tree, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t, err := adopt(cmd)
	if err != nil {
		// A process that could not be ended later must not run.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return t, err
}

func adopt(cmd *exec.Cmd) (*tree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create a job object: %w", err)
	}
	t := &tree{job: job}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		t.release()
		return nil, fmt.Errorf("limit the job object: %w", err)
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err != nil {
		t.release()
		return nil, fmt.Errorf("open the child: %w", err)
	}
	err = windows.AssignProcessToJobObject(job, process)
	_ = windows.CloseHandle(process)
	if err != nil {
		t.release()
		return nil, fmt.Errorf("put the child into its job object: %w", err)
	}
	return t, nil
}

// terminate kills at once: Windows has no request to end that a program without a console window would
// receive.
func (t *tree) terminate() { _ = t.kill() }

// kill ignores the error: it means that nothing is left to kill.
func (t *tree) kill() error {
	_ = windows.TerminateJobObject(t.job, 1)
	return nil
}

// exit says how the child ended.
func (t *tree) exit(state *os.ProcessState) string { return state.String() }

func (t *tree) release() { _ = windows.CloseHandle(t.job) }
