package wire_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// FuzzStorage: no requests make a storage panic, and each is answered with JSON or the content of a file. A body is
// uploaded, used as a request for a batch of both providers, and the batches are polled until they end.
func FuzzStorage(f *testing.F) {
	line := `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{}}`
	for _, seed := range []string{
		line + "\n" + line, `{"requests":[{"custom_id":"a","params":{}}]}`, `{"input_file_id":"file-rehearse1","endpoint":"/v1/responses"}`,
		"{\"custom_id\":\"\xff\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":{}}", "",
	} {
		f.Add([]byte(seed), "limit=1&after=x", `{"a":1}`)
	}
	f.Fuzz(func(t *testing.T, body []byte, query, answer string) {
		var s wire.Storage
		values, _ := url.ParseQuery(query)
		if values == nil {
			values = url.Values{}
		}
		respond := func(method, endpoint string, body []byte) map[string]any {
			frames, _ := s.Respond(wire.StorageRequest{
				Method: method, Endpoint: endpoint, Query: values, Body: body, Now: time.Unix(1, 0),
				Answer: func(string, []byte) (int, []byte, error) {
					if strings.HasPrefix(answer, "!") {
						return 0, nil, errors.New(answer)
					}
					return 200, []byte(answer), nil
				},
			})
			var v map[string]any
			if err := json.Unmarshal(frames[0].Data, &v); err != nil && !strings.HasSuffix(endpoint, "/content") && !strings.HasSuffix(endpoint, "/results") {
				t.Fatalf("%s %s answered %.200q", method, endpoint, frames[0].Data)
			}
			for text := range strings.Lines(string(frames[0].Data)) {
				if strings.HasSuffix(endpoint, "/results") && frames[0].Status == 200 && !json.Valid([]byte(text)) {
					t.Fatalf("a result is %.200q", text)
				}
			}
			return v
		}
		file, _ := respond("POST", "/files", form("@file", string(body), "purpose", "batch"))["id"].(string)
		batch, _ := respond("POST", "/batches", []byte(`{"input_file_id":"`+file+`","endpoint":"/v1/chat/completions","completion_window":"24h"}`))["id"].(string)
		respond("POST", "/batches", body)
		other, _ := respond("POST", "/messages/batches", body)["id"].(string)
		for range 2 {
			v := respond("GET", "/batches/"+batch, nil)
			respond("GET", "/messages/batches/"+other, nil)
			if output, ok := v["output_file_id"].(string); ok {
				respond("GET", "/files/"+output+"/content", nil)
			}
		}
		respond("GET", "/messages/batches/"+other+"/results", nil)
		for _, list := range []string{"/files", "/batches", "/messages/batches"} {
			respond("GET", list, nil)
		}
		respond("POST", "/batches/"+batch+"/cancel", nil)
		respond("DELETE", "/messages/batches/"+other, nil)
		respond("DELETE", "/files/"+file, nil)
	})
}
