package reports

// Text gives the tests the form of a measure for a person.
var Text = text
