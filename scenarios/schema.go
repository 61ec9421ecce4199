package scenarios

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// Duration is a length of time in options, such as 90s or 1h30m.
type Duration = quantity.Duration

// ExtendSchema adds kinds of agents to the JSON Schema of scenario files. Kinds that it already has
// are not changed. Descriptions of keys come from jsonschema tags.
func ExtendSchema(schema []byte, kinds []Kind) ([]byte, error) {
	var document map[string]any
	if err := json.Unmarshal(schema, &document); err != nil {
		return nil, fmt.Errorf("read the schema of scenarios: %w", err)
	}
	properties, _ := document["properties"].(map[string]any)
	drive, _ := properties["drive"].(map[string]any)
	known, ok := drive["properties"].(map[string]any)
	if !ok {
		return nil, errors.New("the schema of scenarios has no kinds of agents")
	}
	reflector := jsonschema.Reflector{
		FieldNameTag: "yaml", Anonymous: true, ExpandedStruct: true, DoNotReference: true, Mapper: textSchema,
	}
	extended := false
	for _, k := range kinds {
		if _, there := known[k.Name]; there {
			continue
		}
		options := reflector.ReflectFromType(reflect.TypeOf(k.Options()).Elem())
		options.Version = ""
		known[k.Name], extended = options, true
	}
	if !extended {
		return schema, nil
	}
	data, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema of scenarios: %w", err)
	}
	return append(data, '\n'), nil
}

// textSchema is the schema of types with a text form.
func textSchema(t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[Duration]() || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}
