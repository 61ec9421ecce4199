// Package drift sends the requests of a captured script to a live backend again and
// says, in tiers, how the structure of its answers has changed since.
package drift
