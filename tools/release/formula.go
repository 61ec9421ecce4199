package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// formulaFile is the formula for a Homebrew tap.
const formulaFile = "rehearse.rb"

//go:embed formula.rb.tmpl
var formulaText string

// platform is a program of a release that Homebrew installs.
type platform struct {
	OS, CPU string // in Homebrew's names: macos and linux, arm and intel
	File    string
	Sum     string // SHA-256
}

// formula returns the formula for the programs of a version in a folder.
func formula(folder, version string) ([]byte, error) {
	var found []platform
	for _, p := range []platform{
		{OS: "macos", CPU: "arm", File: "darwin_arm64"},
		{OS: "macos", CPU: "intel", File: "darwin_amd64"},
		{OS: "linux", CPU: "arm", File: "linux_arm64"},
		{OS: "linux", CPU: "intel", File: "linux_amd64"},
	} {
		p.File = fmt.Sprintf("rehearse_%s_%s", version, p.File)
		file := filepath.Join(folder, p.File)
		if _, err := os.Stat(file); os.IsNotExist(err) {
			continue // this release has no program for it
		}
		var err error
		if p.Sum, err = checksum(file); err != nil {
			return nil, fmt.Errorf("write the formula: %w", err)
		}
		found = append(found, p)
	}
	parsed, err := template.New(formulaFile).Parse(formulaText)
	if err != nil {
		return nil, fmt.Errorf("read the template of the formula: %w", err)
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, struct {
		Tag, Version string
		Platforms    []platform
	}{version, strings.TrimPrefix(version, "v"), found})
	return out.Bytes(), err
}
