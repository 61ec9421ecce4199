package validate

// The rules. Their names are part of recordings and ledgers: they do not change.
const (
	// Of any text.
	RuleEmpty         Rule = "empty"          // nothing was written
	RuleEncoding      Rule = "encoding"       // the bytes are not UTF-8
	RuleTooLong       Rule = "too-long"       // more words than the text may have
	RuleCutOff        Rule = "cut-off"        // it breaks off in the middle of a sentence
	RuleLanguage      Rule = "language"       // it is in another language than the interview
	RuleForbiddenZone Rule = "forbidden-zone" // it asks about or infers what an interview must leave alone

	// Of questions.
	RuleSeparator        Rule = "separator"         // the separator stands within a line
	RuleQuestionCount    Rule = "question-count"    // too few or too many questions in a batch
	RuleQuestionEmpty    Rule = "question-empty"    // nothing between two separators
	RuleNoQuestion       Rule = "no-question"       // a part of a batch that asks nothing; it is left out
	RuleQuestionSeveral  Rule = "question-several"  // more than one question in one message
	RuleOptionCount      Rule = "option-count"      // too few or too many options
	RuleOptionLetters    Rule = "option-letters"    // the letters are not A, B, C … in order
	RuleOptionPacked     Rule = "option-packed"     // several options on one line
	RuleOptionEmpty      Rule = "option-empty"      // a letter without a text
	RuleOptionDuplicate  Rule = "option-duplicate"  // the same option twice
	RuleMediumMissing    Rule = "medium-missing"    // the medium is not spoken of
	RuleMediumOther      Rule = "medium-other"      // the other medium is spoken of
	RuleOneWork          Rule = "one-work"          // it does not ask for one work
	RuleWorkMissing      Rule = "work-missing"      // a work that the candidate named is not spoken of
	RuleCharacterMissing Rule = "character-missing" // no character is named
	RuleTraitGeneric     Rule = "trait-generic"     // a trait that fits any character

	// Of texts with sections.
	RuleSectionMissing Rule = "section-missing"
	RuleSectionDoubled Rule = "section-doubled"
	RuleSectionOrder   Rule = "section-order"
	RuleSectionEmpty   Rule = "section-empty"
	RuleSectionWords   Rule = "section-words"   // more words than the section may have
	RuleStrayText      Rule = "stray-text"      // text that belongs to no section
	RuleOpenValidation Rule = "open-validation" // the sentence that asks whether it fits is missing or changed
	RuleLineCount      Rule = "line-count"      // too few or too many lines
	RuleVigilance      Rule = "vigilance"       // not exactly one point of vigilance

	// Of the matching.
	RuleStatusMissing  Rule = "status-missing"  // no line says one of the three statuses
	RuleStatusSeveral  Rule = "status-several"  // more than one line does
	RuleStatusConflict Rule = "status-conflict" // the sign and the words say different things
)

// The limits. A mirror's sections may be used up to the hard limit; between the
// two they are worth another attempt.
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
