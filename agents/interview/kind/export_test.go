package kind

// LedgerMatches reports whether a ledger fits the calls that were made.
var LedgerMatches = ledgerMatches
