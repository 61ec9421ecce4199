package main

import (
	"encoding/json"
	"fmt"
)

// bom is a software bill of materials in CycloneDX 1.6 format, with the fields that
// are used here (https://cyclonedx.org/docs/1.6/json/).
type bom struct {
	Schema      string      `json:"$schema"`
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	PURL     string    `json:"purl"`
	Licenses []license `json:"licenses,omitempty"`
}

type license struct {
	License struct {
		ID   string `json:"id,omitempty"`
		Name string `json:"name,omitempty"`
	} `json:"license"`
}

// billOfMaterials lists the modules of a release. It has neither a date nor a random
// serial number, so that releases are reproducible.
func billOfMaterials(version string, modules []licensed) ([]byte, error) {
	b := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{newComponent("application", "github.com/rehearse-dev/rehearse", version)},
	}
	b.Metadata.Component.Licenses = []license{newLicense("Apache-2.0", "")}
	for _, m := range modules {
		c := newComponent("library", m.Path, m.Version)
		c.Licenses = []license{newLicense(m.id, m.files[0].name+" of the module")}
		b.Components = append(b.Components, c)
	}
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the bill of materials: %w", err)
	}
	return append(data, '\n'), nil
}

func newComponent(kind, path, version string) component {
	purl := fmt.Sprintf("pkg:golang/%s@%s", path, version)
	return component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
}

// newLicense names a licence by its identifier or, if it has none, by its name.
func newLicense(id, name string) (l license) {
	if l.License.ID = id; id == "" {
		l.License.Name = name
	}
	return l
}
