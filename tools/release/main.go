// Command release completes a folder of released programs: it writes the licences of all
// modules that they link (THIRD_PARTY_NOTICES.txt), their software bill of materials
// (rehearse.cdx.json, CycloneDX), a Homebrew formula (rehearse.rb) and the checksums of all files
// (SHA256SUMS).
//
// It reads the modules from the programs and their licences from the module
// cache, so it needs no network after the build.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

const (
	noticesFile = "THIRD_PARTY_NOTICES.txt"
	bomFile     = "rehearse.cdx.json"
	sumsFile    = "SHA256SUMS"
)

func run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	version := flags.String("version", "", "version of the release")
	folder := flags.String("in", "dist", "folder with the programs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	programs, err := filepath.Glob(filepath.Join(*folder, "rehearse_*"))
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		return fmt.Errorf("%s contains no programs named rehearse_*; run make release", *folder)
	}
	modules, err := linked(programs)
	if err != nil {
		return err
	}
	licensed, err := licensesOf(modules)
	if err != nil {
		return err
	}
	bom, err := billOfMaterials(*version, licensed)
	if err != nil {
		return err
	}
	brew, err := formula(*folder, *version)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{noticesFile: notices(licensed), bomFile: bom, formulaFile: brew} {
		if err := os.WriteFile(filepath.Join(*folder, name), data, 0o644); err != nil { //nolint:gosec // it is published
			return err
		}
	}
	return writeSums(*folder)
}

// linked returns the modules that any of the programs links, by path.
func linked(programs []string) ([]debug.Module, error) {
	byPath := map[string]debug.Module{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return nil, fmt.Errorf("read the modules of %s: %w", program, err)
		}
		for _, m := range info.Deps {
			if m.Replace != nil {
				return nil, fmt.Errorf("%s links a replacement of %s; a release must link published modules", program, m.Path)
			}
			byPath[m.Path] = *m
		}
	}
	var all []debug.Module
	for _, m := range byPath {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b debug.Module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// writeSums writes the checksums of all other files of a folder, in the format of sha256sum.
func writeSums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		if e.Name() == sumsFile {
			continue
		}
		sum, err := checksum(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(folder, sumsFile), sums.Bytes(), 0o644) //nolint:gosec // it is published
}

func checksum(file string) (_ string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}
