package sanitize

import (
	"errors"
	"io/fs"
)

// WithoutPath returns the cause of an error of the file system, without the operation and the path, which may be
// foreign.
func WithoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
