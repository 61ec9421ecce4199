// Package egress keeps driven agents from everything but the scripted backend: it
// refuses what they ask of other hosts, and names these.
package egress
