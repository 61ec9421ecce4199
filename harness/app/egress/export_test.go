package egress

// What answers the names that are looked up.
var (
	NoSuchName = noSuchName
	Resolvers  = resolvers
	Outside    = outside

	Destination = destination
)
