package audit

import (
	"encoding/json"
	"fmt"
	"io"
)

// JSON writes the audit as indented JSON. Latencies of calls are in nanoseconds ("latency_ns"),
// sums and quantiles in seconds.
func JSON(w io.Writer, a Audit) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false) // for human readers
	if err := enc.Encode(a); err != nil {
		return fmt.Errorf("write the audit as JSON: %w", err)
	}
	return nil
}
