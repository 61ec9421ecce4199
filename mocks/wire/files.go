package wire

import (
	"mime"
	"net/http"
	"slices"
	"time"
)

// Purposes of files.
const (
	purposeBatch  = "batch"
	purposeOutput = "batch_output"
)

// maxFileName limits the name of a file, in bytes.
const maxFileName = 255

// storedFile is a file as clients see it, with its content.
type storedFile struct {
	Object        string `json:"object"`
	ID            string `json:"id"`
	Purpose       string `json:"purpose"`
	Filename      string `json:"filename"`
	Bytes         int    `json:"bytes"`
	CreatedAt     int64  `json:"created_at"`
	ExpiresAt     *int64 `json:"expires_at"`
	Status        string `json:"status"`
	StatusDetails *bool  `json:"status_details"` // always null

	content []byte
}

// addFile stores a file, and drops the oldest ones beyond the limits.
func (s *Storage) addFile(name, purpose string, content []byte, now time.Time) *storedFile {
	f := &storedFile{
		Object: "file", ID: s.newID("file-"), Purpose: purpose, Filename: name, Bytes: len(content),
		CreatedAt: unixSeconds(now), Status: "processed", content: content,
	}
	s.files = append(s.files, f)
	s.size += len(content)
	for len(s.files) > 1 && (s.size > maxStored || s.Keep > 0 && len(s.files) > s.Keep) {
		s.removeFile(s.files[0])
	}
	return f
}

func (s *Storage) removeFile(f *storedFile) {
	s.files = slices.DeleteFunc(s.files, func(o *storedFile) bool { return o == f })
	s.size -= len(f.content)
}

// file returns the file with an id, or the provider's error.
func (s *Storage) file(id, param string) (*storedFile, *APIError) {
	for _, f := range s.files {
		if f.ID == id {
			return f, nil
		}
	}
	err := bad(param, "", "No such File object: %.64s", id)
	err.Status = http.StatusNotFound
	return nil, err
}

// upload answers POST /v1/files, see https://developers.openai.com/api/reference/resources/files/methods/create.
func (c storageCall) upload() []Frame {
	form, err := ParseForm(c.Body)
	files, purpose := form.filesOf("file"), form.Field("purpose")
	purposes := []string{"assistants", purposeBatch, "fine-tune", "vision", "user_data", "evals"}
	switch {
	case err != nil:
	case len(files) == 0:
		err = missing("file")
	case purpose == "":
		err = missing("purpose")
	case len(files[0].Name) > maxFileName:
		err = tooLong("file", "filename", maxFileName, len(files[0].Name))
	case len(files[0].Content) == 0:
		err = bad("file", "empty_file", "File is empty.")
	case !slices.Contains(purposes, purpose):
		err = c.rule(ruleUnknownValue, unsupported("purpose", purpose, purposes...))
	}
	if err != nil {
		return OpenAIChat{}.EncodeError(err)
	}
	return jsonValue(c.addFile(files[0].Name, purpose, files[0].Content, c.Now))
}

// listFiles answers GET /v1/files, newest first.
func (c storageCall) listFiles() []Frame {
	var all []*storedFile
	for _, f := range c.files {
		if purpose := c.Query.Get("purpose"); purpose == "" || purpose == f.Purpose {
			all = append(all, f)
		}
	}
	if c.Query.Get("order") != "asc" {
		slices.Reverse(all)
	}
	if c.Query.Get("limit") == "" {
		c.Query.Set("limit", "10000")
	}
	p, err := pageOf(all, c.Query, func(f *storedFile) string { return f.ID }, "list")
	if err != nil {
		return OpenAIChat{}.EncodeError(err)
	}
	return jsonValue(p)
}

// getFile answers GET /v1/files/ID.
func (c storageCall) getFile() []Frame {
	f, err := c.file(c.id, "id")
	if err != nil {
		return OpenAIChat{}.EncodeError(err)
	}
	return jsonValue(f)
}

// deleteFile answers DELETE /v1/files/ID.
func (c storageCall) deleteFile() []Frame {
	f, err := c.file(c.id, "id")
	if err != nil {
		return OpenAIChat{}.EncodeError(err)
	}
	c.removeFile(f)
	return jsonFrames("", jsonText(`{"object":"file","deleted":true,"id":`).quote(f.ID).raw(`}`))
}

// fileContent answers GET /v1/files/ID/content.
func (c storageCall) fileContent() []Frame {
	f, err := c.file(c.id, "id")
	if err == nil && (f.Purpose == "assistants" || f.Purpose == "user_data") {
		err = bad("", "", "Not allowed to download files of purpose: %s", f.Purpose)
	}
	if err != nil {
		return OpenAIChat{}.EncodeError(err)
	}
	h := head("application/octet-stream", "", len(f.content))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Filename}))
	return []Frame{{Status: http.StatusOK, Header: h, Data: f.content}}
}
