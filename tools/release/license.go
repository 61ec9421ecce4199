package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// licensed is a module with its licences.
type licensed struct {
	debug.Module
	// id is the SPDX identifier of its licence; empty without a licence or with several.
	id    string
	files []licenseFile
}

type licenseFile struct{ name, text string }

var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents)`)

// licensesOf reads the licences of modules and, first, of Go's standard library. It fails for a
// module without a licence, which must not be published.
func licensesOf(modules []debug.Module) ([]licensed, error) {
	folders, err := foldersOf(modules)
	if err != nil {
		return nil, err
	}
	goroot, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("find Go: %w", err)
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(goroot)), "\n")
	all := []licensed{{Module: debug.Module{Path: "std", Version: strings.TrimPrefix(version, "go")}}}
	folders["std"] = root
	for _, m := range modules {
		all = append(all, licensed{Module: m})
	}
	for i := range all {
		if err := all[i].read(folders[all[i].Path]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func foldersOf(modules []debug.Module) (map[string]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		args = append(args, m.Path+"@"+m.Version)
	}
	out, err := exec.Command("go", args...).Output() //nolint:gosec // the arguments are names of linked modules
	if err != nil {
		return nil, fmt.Errorf("find the modules in the module cache: %w", err)
	}
	folders := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Dir string }
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			return folders, nil
		} else if err != nil {
			return nil, fmt.Errorf("find the modules in the module cache: %w", err)
		}
		folders[m.Path] = m.Dir
	}
}

// read reads the licences in a module's folder.
func (l *licensed) read(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("read the licences of %s: %w", l.Path, err)
	}
	ids := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() || !licenseName.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return fmt.Errorf("read the licences of %s: %w", l.Path, err)
		}
		l.files = append(l.files, licenseFile{e.Name(), string(text)})
		if id := identify(string(text)); id != "" {
			ids[id] = true
			l.id = id
		}
	}
	if len(l.files) == 0 {
		return fmt.Errorf("module %s %s has no licence file", l.Path, l.Version)
	}
	if len(ids) > 1 {
		l.id = ""
	}
	return nil
}

// phrases identify licences by a typical sentence. The first match wins.
var phrases = []struct{ id, phrase string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"BSD-3-Clause", "may be used to endorse or promote products"},
	{"BSD-2-Clause", "redistributions in binary form must reproduce the above copyright"},
	{"ISC", "permission to use copy modify and/or distribute this software for any purpose with or without fee"},
	{"ISC", "permission to use copy modify and distribute this software for any purpose with or without fee"},
	{"MIT", "permission is hereby granted free of charge to any person obtaining a copy"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
}

var nonWord = regexp.MustCompile(`[\s,*#()]+`)

// identify returns the SPDX identifier of a licence; empty if the licence is unknown.
func identify(text string) string {
	plain := nonWord.ReplaceAllString(strings.ToLower(text), " ")
	for _, p := range phrases {
		if strings.Contains(plain, p.phrase) {
			return p.id
		}
	}
	return ""
}

// notices returns the licence texts of all modules.
func notices(all []licensed) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "rehearse contains the following third-party software.\n")
	for _, l := range all {
		fmt.Fprintf(&b, "\n%s\n%s %s\n", strings.Repeat("=", 80), l.Path, l.Version)
		for _, f := range l.files {
			fmt.Fprintf(&b, "%s\n%s\n\n%s\n", strings.Repeat("-", 80), f.name, strings.TrimSpace(f.text))
		}
	}
	return b.Bytes()
}
