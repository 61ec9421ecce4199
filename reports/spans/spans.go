// Package spans exports a recording as OpenTelemetry spans of the GenAI
// conventions, in OTLP's JSON form.
package spans
