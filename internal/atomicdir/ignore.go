package atomicdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Ignore creates a folder, unless it exists, and keeps it out of version control by a .gitignore file in it.
// An existing .gitignore is left as it is, so an empty one makes git see the folder.
func Ignore(folder string) error {
	if err := os.MkdirAll(folder, folderMode); err != nil {
		return fmt.Errorf("create a folder for the results: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(folder, ".gitignore"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("keep %s out of version control: %w", folder, err)
	}
	_, err = file.WriteString("*\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("keep %s out of version control: %w", folder, err)
	}
	return nil
}
