package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestRelease releases a small program that links several modules.
func TestRelease(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "rehearse_v1_linux_amd64"), "github.com/onsi/ginkgo/v2/ginkgo")
	build.Stderr = t.Output()
	g.Expect(build.Run()).To(Succeed())

	for range 2 { // the second release must be identical
		g.Expect(run([]string{"-in", folder, "-version", "v1"}, t.Output())).To(Succeed())
		notices, err := os.ReadFile(filepath.Join(folder, noticesFile))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(notices)).To(And(ContainSubstring("\ngithub.com/go-task/slim-sprig/v3 v"), ContainSubstring("\nstd 1."), ContainSubstring("Permission is hereby granted")))

		data, err := os.ReadFile(filepath.Join(folder, bomFile))
		g.Expect(err).NotTo(HaveOccurred())
		var b bom
		g.Expect(json.Unmarshal(data, &b)).To(Succeed())
		g.Expect(b.Metadata.Component.PURL).To(Equal("pkg:golang/github.com/rehearse-dev/rehearse@v1"))
		byName := map[string]component{}
		for _, c := range b.Components {
			byName[c.Name] = c
		}
		g.Expect(byName["github.com/go-task/slim-sprig/v3"].Licenses[0].License.ID).To(Equal("MIT"))
		g.Expect(byName["std"].Licenses[0].License.ID).To(Equal("BSD-3-Clause"))

		sums, err := os.ReadFile(filepath.Join(folder, sumsFile))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(strings.Split(strings.TrimSpace(string(sums)), "\n")).To(ConsistOf(
			MatchRegexp(`^[0-9a-f]{64}  `+noticesFile+`$`), MatchRegexp(`^[0-9a-f]{64}  `+bomFile+`$`), MatchRegexp(`^[0-9a-f]{64}  `+formulaFile+`$`),
			MatchRegexp(`^[0-9a-f]{64}  rehearse_v1_linux_amd64$`)))
		sum, err := checksum(filepath.Join(folder, "rehearse_v1_linux_amd64"))
		g.Expect(err).NotTo(HaveOccurred())
		brew, err := os.ReadFile(filepath.Join(folder, formulaFile))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(brew)).To(And(
			ContainSubstring("  version \"1\"\n"),
			ContainSubstring("  on_linux do\n    on_intel do\n      url \"https://github.com/rehearse-dev/rehearse/releases/download/v1/rehearse_v1_linux_amd64\"\n      sha256 \""+sum+"\"\n"),
			Not(ContainSubstring("on_macos")))) // there is no such program
	}
}

func TestReleaseRefuses(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(run([]string{"-in", folder}, t.Output())).To(MatchError(ContainSubstring("make release")))
	g.Expect(os.WriteFile(filepath.Join(folder, "rehearse_x"), []byte("no program"), 0o600)).To(Succeed())
	g.Expect(run([]string{"-in", folder}, t.Output())).To(MatchError(ContainSubstring("rehearse_x")))
	l := licensed{Module: debug.Module{Path: "example.com/none", Version: "v1"}}
	g.Expect(l.read(t.TempDir())).To(MatchError("module example.com/none v1 has no licence file"))
}

func TestIdentify(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                                                                "Apache-2.0",
		"Redistributions in binary form must reproduce\nthe above copyright notice":                                                   "BSD-2-Clause",
		"Redistributions in binary form must reproduce the above copyright … may be used to endorse or promote products derived from": "BSD-3-Clause",
		"Permission to use, copy, modify, and distribute this software for any purpose with or without fee":                           "ISC",
		"All rights reserved": "",
	} {
		NewWithT(t).Expect(identify(text)).To(Equal(want), text)
	}
}
