package mocks

// Say returns a line that answers with a text, which may be empty.
func Say(text string) Line { return Line{Answer: Answer{Text: textOf(text)}} }

// CallTool returns a line that calls one function.
func CallTool(name string, arguments map[string]any) Line {
	return Line{Answer: Answer{ToolCalls: []ScriptedToolCall{{Name: name, Arguments: arguments}}}}
}

// Fail returns a line that is only a fault.
func Fail(f Fault) Line { return Line{Answer: Answer{Fault: &f}} }

// IfUser restricts the line to requests with a text in the last user message.
func (l Line) IfUser(contains string) Line {
	when := When{}
	if l.When != nil {
		when = *l.When
	}
	when.User = &Match{Contains: contains}
	l.When = &when
	return l
}
