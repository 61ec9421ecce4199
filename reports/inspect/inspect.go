// Package inspect exports a recording as a log of Inspect, so that its viewer
// opens it.
package inspect
