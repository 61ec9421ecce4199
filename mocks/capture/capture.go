// Package capture is a recording proxy in front of a real backend: what passes through
// becomes a script, with secrets redacted.
package capture
