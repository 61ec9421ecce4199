package harness

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
)

// The files of a run that rehearse report reads.
const (
	recordingFile = "recording.jsonl"
	timingsFile   = "timings.jsonl"
)

// files are the recording of a rehearsal and its timings. Methods of nil do nothing.
type files struct {
	folder    *atomicdir.Folder
	recording *atomicdir.File
	writer    *record.Writer
	timings   *atomicdir.File // nil before the first timing
}

func newFiles(path string, header record.Run) (*files, error) {
	out, err := atomicdir.Open(path)
	if err != nil {
		return nil, err
	}
	f := &files{folder: out}
	if f.recording, err = out.Create(recordingFile); err == nil {
		f.writer, err = record.NewWriter(f.recording, header)
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *files) scenario(head record.Scenario) error {
	if f == nil {
		return nil
	}
	return f.writer.Scenario(head)
}

func (f *files) trial(lines []byte, timings []record.Timing) error {
	if f == nil {
		return nil
	}
	if len(timings) > 0 {
		if err := f.time(timings); err != nil {
			return err
		}
	}
	if err := f.writer.Trial(lines); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

func (f *files) time(timings []record.Timing) (err error) {
	if f.timings == nil {
		if f.timings, err = f.folder.Create(timingsFile); err != nil {
			return err
		}
	}
	return record.WriteTimings(f.timings, timings)
}

// commit completes the files and gives them their names.
func (f *files) commit(o Outcome) error {
	if f == nil {
		return nil
	}
	err := f.writer.Close(record.Close{
		Trials: o.Trials, Interrupted: o.Interrupted, Stopped: o.Stopped, FailFast: o.FailFast, NotRun: o.NotRun,
	})
	if err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	all := []*atomicdir.File{f.recording}
	if f.timings != nil {
		all = append(all, f.timings)
	} else if err := f.folder.Remove(timingsFile); err != nil { // of an earlier rehearsal
		return err
	}
	return f.folder.Commit(all...)
}

// close unlocks the folder.
func (f *files) close() {
	if f != nil {
		_ = f.folder.Close() // the end of the process unlocks it as well
	}
}
