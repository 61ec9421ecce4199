package judge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// ReadLabels reads labelled answers from a file of JSON lines.
func ReadLabels(path string) ([]Labelled, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the labels: %w", err)
	}
	var items []Labelled
	in := bufio.NewScanner(bytes.NewReader(data))
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		item := struct {
			Item
			Pass *bool `json:"pass"`
		}{}
		decoder := json.NewDecoder(bytes.NewReader(in.Bytes()))
		decoder.DisallowUnknownFields()
		switch err := decoder.Decode(&item); {
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		case item.Pass == nil:
			return nil, fmt.Errorf(`%s:%d: the label is missing; write "pass": true or false`, path, n)
		}
		items = append(items, Labelled{Item: item.Item, Pass: *item.Pass})
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read the labels of %s: %w", path, err)
	}
	return items, nil
}
