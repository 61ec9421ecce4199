package validate

// The rules. Their names are stored in recordings and ledgers and must not change.
const (
	// Of any text.
	ruleEmpty         Rule = "empty"          // no words
	ruleEncoding      Rule = "encoding"       // invalid UTF-8
	ruleTooLong       Rule = "too-long"       // too many words
	ruleCutOff        Rule = "cut-off"        // ends in the middle of a sentence
	ruleLanguage      Rule = "language"       // another language than that of the interview
	ruleForbiddenZone Rule = "forbidden-zone" // it enters a zone that an interview must avoid
	ruleAddress       Rule = "tu-vous"        // it addresses the candidate with "tu" and with "vous"
	ruleScore         Rule = "score"          // it rates the candidate

	// Of questions.
	ruleSeparator        Rule = "separator"         // separator within a line
	ruleQuestionCount    Rule = "question-count"    // too few or too many questions in a batch
	ruleQuestionEmpty    Rule = "question-empty"    // no text between two separators
	ruleNoQuestion       Rule = "no-question"       // a part of a batch without a question; it is omitted
	ruleQuestionSeveral  Rule = "question-several"  // more than one question in one message
	ruleOptionCount      Rule = "option-count"      // too few or too many options
	ruleOptionLetters    Rule = "option-letters"    // the letters are not A, B, C … in order
	ruleOptionPacked     Rule = "option-packed"     // several options on one line
	ruleOptionEmpty      Rule = "option-empty"      // a letter without a text
	ruleOptionDuplicate  Rule = "option-duplicate"  // the same option twice
	ruleMediumMissing    Rule = "medium-missing"    // does not mention the medium
	ruleMediumOther      Rule = "medium-other"      // mentions the other medium
	ruleOneWork          Rule = "one-work"          // does not ask for one work
	ruleWorkMissing      Rule = "work-missing"      // omits a work that the candidate named
	ruleCharacterMissing Rule = "character-missing" // names no character
	ruleTraitGeneric     Rule = "trait-generic"     // a trait that fits any character

	// Of texts with sections.
	ruleSectionMissing Rule = "section-missing"
	ruleSectionDoubled Rule = "section-doubled"
	ruleSectionOrder   Rule = "section-order"
	ruleSectionEmpty   Rule = "section-empty"
	ruleSectionWords   Rule = "section-words"   // too many words in a section
	ruleStrayText      Rule = "stray-text"      // text outside of the sections
	ruleOpenValidation Rule = "open-validation" // the closing sentence is missing or changed
	ruleLineCount      Rule = "line-count"      // too few or too many lines
	ruleVigilance      Rule = "vigilance"       // not exactly one point of vigilance

	// Of the matching.
	ruleStatusMissing  Rule = "status-missing"  // no line is a status
	ruleStatusSeveral  Rule = "status-several"  // more than one line is a status
	ruleStatusConflict Rule = "status-conflict" // the sign contradicts the words
)

// The limits. Sections of a mirror are valid up to the hard limit, with a warning above the soft one.
const (
	minQuestions     = 2
	askedQuestions   = 3 // of a block; fewer are worth another attempt
	maxQuestions     = 12
	minOptions       = 2
	maxOptions       = 5
	maxQuestionWords = 150

	readingWords       = 20 // section 1 of a mirror
	readingWordsHard   = 30
	deductionWords     = 25 // section 2 of a mirror
	deductionWordsHard = 35

	minProjectiveLines = 4 // of the mirror of block 2B
	maxProjectiveLines = 6
	maxProjectiveWords = 180

	maxPreambleWords = 300
	maxProfileWords  = 1500
	maxMatchingWords = 600
)
