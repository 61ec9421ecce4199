package stop

// Lexicon are the compiled lexicons, for benchmarks.
var Lexicon = lexicon
