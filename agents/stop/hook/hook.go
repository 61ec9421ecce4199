// Package hook speaks the stop-hook contracts of existing coding agents.
package hook
