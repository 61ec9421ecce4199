package drift

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
	"github.com/rehearse-dev/rehearse/redact"
)

// Left is an uploaded file that may still be at the provider.
type Left struct {
	// N is the exchange that uploaded the file.
	N int `json:"n"`
	// File is the id of the file; empty if the provider did not report it.
	File string `json:"file,omitempty"`
	// Why the file could not be deleted.
	Why string `json:"why"`
}

// deleteLimit limits the time to delete all files, also after an interrupt.
const deleteLimit = 30 * time.Second

// uploads are the files that have been uploaded and not been deleted yet, by their ids.
type uploads []upload

type upload struct {
	id   string
	from *tape.Exchange
}

// fileUpload is the form of a request that uploads a file.
const fileUpload = "POST /v1/files"

// storageRequest returns the form of a request, such as "POST /v1/files" or "DELETE /v1/files/*".
func storageRequest(x *tape.Exchange) string {
	_, endpoint := wire.SplitRoot(x.Path)
	return wire.StorageRequestOf(x.Verb(), endpoint)
}

// follow adds the file that a successful request has uploaded, and removes the one that it has deleted.
func (u *uploads) follow(x *tape.Exchange, answer []byte) {
	switch storageRequest(x) {
	case fileUpload:
		var file idFields
		_ = json.Unmarshal(answer, &file) // without an id if it has another form
		*u = append(*u, upload{file.ID, x})
	case "DELETE /v1/files/*":
		*u = slices.DeleteFunc(*u, func(f upload) bool { return f.path() == x.Path })
	}
}

// path is the path of the file.
func (f upload) path() string { return f.from.Path + "/" + f.id }

// deleteUploads deletes the uploaded files, also after the end of ctx, and records each file that it could not delete.
func (r *runner) deleteUploads(ctx context.Context) {
	ctx, cancel := r.opts.Clock.WithTimeout(context.WithoutCancel(ctx), min(deleteLimit, r.opts.Timeout))
	defer cancel()
	for _, f := range r.uploads {
		if err := r.deleteUpload(ctx, f); err != nil {
			r.left(f.from, f.id, err)
		}
	}
}

func (r *runner) deleteUpload(ctx context.Context, f upload) error {
	if f.id == "" {
		return errors.New("the answer to the upload has no id")
	}
	codec, _ := wire.ForExchange(f.from.Protocol, f.from.Path)
	request, err := r.request(ctx, codec, &tape.Exchange{
		Protocol: f.from.Protocol, Method: http.MethodDelete, Path: f.path(), Header: f.from.Header,
	})
	if err != nil {
		return err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return withoutURL(err)
	}
	defer response.Body.Close()
	if response.StatusCode < http.StatusMultipleChoices || response.StatusCode == http.StatusNotFound {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxReason)) // it explains the status
	return fmt.Errorf("status %d: %s", response.StatusCode, cmp.Or(string(body), "no reason given"))
}

// maxReason limits the reason why a file was not deleted, in bytes.
const maxReason = 300

// left records a file that may still be at the provider.
func (r *runner) left(x *tape.Exchange, id string, err error) {
	why := redact.New([]string{r.key(x.Protocol)}).Text(err.Error())
	r.result.Left = append(r.result.Left, Left{N: x.N, File: id, Why: why})
}
