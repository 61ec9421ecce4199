package validate

// The rules. Their names are stored in recordings and ledgers and must not change.
const (
	// Of any text.
	ruleEmpty         Rule = "empty"          // nothing was written
	ruleEncoding      Rule = "encoding"       // the bytes are not UTF-8
	ruleTooLong       Rule = "too-long"       // more words than the text may have
	ruleCutOff        Rule = "cut-off"        // it breaks off in the middle of a sentence
	ruleLanguage      Rule = "language"       // it is in another language than the interview
	ruleForbiddenZone Rule = "forbidden-zone" // it asks about or infers what an interview must leave alone

	// Of questions.
	ruleSeparator        Rule = "separator"         // the separator stands within a line
	ruleQuestionCount    Rule = "question-count"    // too few or too many questions in a batch
	ruleQuestionEmpty    Rule = "question-empty"    // nothing between two separators
	ruleNoQuestion       Rule = "no-question"       // a part of a batch that asks nothing; it is left out
	ruleQuestionSeveral  Rule = "question-several"  // more than one question in one message
	ruleOptionCount      Rule = "option-count"      // too few or too many options
	ruleOptionLetters    Rule = "option-letters"    // the letters are not A, B, C … in order
	ruleOptionPacked     Rule = "option-packed"     // several options on one line
	ruleOptionEmpty      Rule = "option-empty"      // a letter without a text
	ruleOptionDuplicate  Rule = "option-duplicate"  // the same option twice
	ruleMediumMissing    Rule = "medium-missing"    // the medium is not spoken of
	ruleMediumOther      Rule = "medium-other"      // the other medium is spoken of
	ruleOneWork          Rule = "one-work"          // it does not ask for one work
	ruleWorkMissing      Rule = "work-missing"      // a work that the candidate named is not spoken of
	ruleCharacterMissing Rule = "character-missing" // no character is named
	ruleTraitGeneric     Rule = "trait-generic"     // a trait that fits any character

	// Of texts with sections.
	ruleSectionMissing Rule = "section-missing"
	ruleSectionDoubled Rule = "section-doubled"
	ruleSectionOrder   Rule = "section-order"
	ruleSectionEmpty   Rule = "section-empty"
	ruleSectionWords   Rule = "section-words"   // more words than the section may have
	ruleStrayText      Rule = "stray-text"      // text that belongs to no section
	ruleOpenValidation Rule = "open-validation" // the sentence that asks whether it fits is missing or changed
	ruleLineCount      Rule = "line-count"      // too few or too many lines
	ruleVigilance      Rule = "vigilance"       // not exactly one point of vigilance

	// Of the matching.
	ruleStatusMissing  Rule = "status-missing"  // no line says one of the three statuses
	ruleStatusSeveral  Rule = "status-several"  // more than one line does
	ruleStatusConflict Rule = "status-conflict" // the sign and the words say different things
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
