package incident

// Parse reads the conversations of a file in memory.
func Parse(data []byte, format Format) ([]Conversation, []Finding, error) {
	return parse([]file{{"incident", data}}, format)
}
