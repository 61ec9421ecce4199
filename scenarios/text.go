package scenarios

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Text returns the text of the file that a scenario was read from, which on disk may have changed
// since.
func Text(sc *Scenario) ([]byte, error) {
	name, isShipped := strings.CutPrefix(sc.File, shippedPrefix)
	var data []byte
	var err error
	if isShipped {
		data, err = fs.ReadFile(shipped, name)
	} else {
		data, err = os.ReadFile(sc.File)
	}
	if err != nil {
		return nil, fmt.Errorf("read the file of scenario %s again: %w", sc.Name, err)
	}
	return data, nil
}

// Folder returns the absolute path of the folder of the scenario's file. A scenario that is not a
// file on disk has none.
func (sc *Scenario) Folder() (string, error) {
	if sc.File == "" || Shipped(sc.File) {
		return "", fmt.Errorf("the scenario %s is not a file on disk, so it has no folder for relative paths; "+
			"write an absolute path or a program in PATH", sc.Name)
	}
	return filepath.Abs(filepath.Dir(filepath.FromSlash(sc.File)))
}
