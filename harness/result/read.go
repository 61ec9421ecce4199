package result

import (
	"encoding/json"
	"fmt"
	"io"
)

// maxBytes limits the size of a result.
const maxBytes = 256 << 20

// ReadExperiment reads the JSON form of an Experiment.
func ReadExperiment(r io.Reader) (Experiment, error) {
	var found Experiment
	in := json.NewDecoder(io.LimitReader(r, maxBytes))
	in.DisallowUnknownFields()
	if err := in.Decode(&found); err != nil {
		return found, err
	}
	if found.Schema != ExperimentSchema {
		return found, fmt.Errorf("unsupported schema %q; this program reads %q", found.Schema, ExperimentSchema)
	}
	return found, nil
}
