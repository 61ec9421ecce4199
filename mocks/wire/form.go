package wire

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// Limits of multipart bodies.
const (
	maxBoundary  = 70 // bytes; of RFC 2046
	maxFormParts = 1000
)

// Form is the body of a multipart request.
type Form struct {
	fields map[string][]string
	// Files are the parts with a file name, in order.
	Files []FormFile
}

// FormFile is a file of a Form.
type FormFile struct {
	Field, Name, MediaType string
	Content                []byte
}

// ParseForm parses a multipart body. It reads the boundary from the first line, because clients send nothing
// before it; so a recorded body needs no header.
func ParseForm(body []byte) (Form, *APIError) {
	f := Form{fields: map[string][]string{}}
	line, _, _ := bytes.Cut(body, []byte("\n"))
	boundary, ok := bytes.CutPrefix(bytes.TrimRight(line, "\r \t"), []byte("--"))
	if !ok || len(boundary) == 0 || len(boundary) > maxBoundary {
		return f, badForm(errors.New("the body does not begin with a boundary"))
	}
	reader := multipart.NewReader(bytes.NewReader(body), string(boundary))
	for range maxFormParts {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return f, badForm(err)
		}
		content, err := io.ReadAll(part) // limited, like the body
		if err != nil {
			return f, badForm(err)
		}
		if part.FileName() == "" {
			f.fields[part.FormName()] = append(f.fields[part.FormName()], string(content))
			continue
		}
		f.Files = append(f.Files, FormFile{part.FormName(), part.FileName(), part.Header.Get("Content-Type"), content})
	}
	return f, badForm(errors.New("there are more than " + strconv.Itoa(maxFormParts) + " parts"))
}

// FormType returns the content type of a multipart body; ok is false for other bodies.
func FormType(body []byte) (contentType string, ok bool) {
	if _, err := ParseForm(body); err != nil {
		return "", false
	}
	line, _, _ := bytes.Cut(body, []byte("\n"))
	boundary := strings.TrimPrefix(strings.TrimRight(string(line), "\r \t"), "--")
	contentType = mime.FormatMediaType("multipart/form-data", map[string]string{"boundary": boundary})
	return contentType, contentType != ""
}

func badForm(err error) *APIError {
	return bad("", "", "Could not parse multipart form: it must be multipart/form-data. (%.200s)", err)
}

// Field returns the first value of a field, or "".
func (f *Form) Field(name string) string {
	if values := f.fields[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// All returns the values of a list, whose name may end in [].
func (f *Form) All(name string) []string {
	return append(f.fields[name+"[]"], f.fields[name]...)
}

// integer reads an optional integer; nil if it is missing.
func (f *Form) integer(name string) (*int, *APIError) {
	text := f.Field(name)
	if text == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, bad(name, "invalid_type", "Invalid type for '%s': expected an integer, but got a string instead.", name)
	}
	return &n, nil
}

// boolean reads an optional boolean.
func (f *Form) boolean(name string) (bool, *APIError) {
	switch text := f.Field(name); text {
	case "", "false", "False":
		return false, nil
	case "true", "True":
		return true, nil
	default:
		return false, unsupported(name, text, "true", "false")
	}
}

// filesOf returns the files of a field, whose name may end in [].
func (f *Form) filesOf(field string) []*FormFile {
	var files []*FormFile
	for i := range f.Files {
		if name := f.Files[i].Field; name == field || name == field+"[]" {
			files = append(files, &f.Files[i])
		}
	}
	return files
}

// attachment describes the file.
func (f *FormFile) attachment(kind string) llm.Attachment {
	var p payload
	p.digestOf(bytes.NewReader(f.Content))
	p.valid = len(f.Content) > 0
	return p.attachment(kind, cmp.Or(f.MediaType, "application/octet-stream"), f.Name)
}
