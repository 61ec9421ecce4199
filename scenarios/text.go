package scenarios

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Text is the text of the file that a scenario was read from: of a shipped one, or
// of one on disk, which may have changed since.
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
