package result

import (
	"encoding/json"
	"fmt"
	"io"
)

// maxBytes bounds the size of a result.
const maxBytes = 256 << 20

// Read reads the JSON form of a Result.
func ReadExperiment(r io.Reader) (Experiment, error) {
	var found Experiment
	in := json.NewDecoder(io.LimitReader(r, maxBytes))
	in.DisallowUnknownFields()
	if err := in.Decode(&found); err != nil {
		return found, err
	}
	if found.Schema != ExperimentSchema {
		return found, fmt.Errorf("its schema is %q, and this program knows %q", found.Schema, ExperimentSchema)
	}
	return found, nil
}
