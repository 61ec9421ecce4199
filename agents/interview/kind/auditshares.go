package kind

import (
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// sharedParagraph describes the link through which an audit is read.
func sharedParagraph(s session.Share) doc.Paragraph {
	link := doc.Line("This link")
	if s.For != "" {
		link = doc.Line(link, " for ", doc.Quote(s.For))
	}
	return doc.Paragraph(doc.Line(link, " shows the audit of one interview until ", timeText(s.Expires),
		" UTC. It neither opens nor changes the interview. Each use is counted: this is number ", s.Opened,
		". Add ?format=json to the address for the same data as JSON."))
}

func shareTable(shares []session.Share) doc.Table {
	t := doc.Table{Noun: "links", Columns: doc.Columns(5, "link", "for", "contains", "created (UTC)", "valid until (UTC)", "opened",
		"last (UTC)")}
	for _, s := range shares {
		content, until, last := "no texts", timeText(s.Expires), "–"
		if s.Texts {
			content = "questions and answers"
		}
		if s.Revoked {
			until = "revoked"
		}
		if !s.Last.IsZero() {
			last = timeText(s.Last)
		}
		t.Rows = append(t.Rows, doc.Cells(s.ID(), doc.Line(doc.Quote(s.For)), content, timeText(s.Created), until, s.Opened, last))
	}
	return t
}
