package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// resumePage is the page on which a candidate types a code.
type resumePage struct {
	Language session.Language
	// Candidate is the submitted identifier, and Problem the code of the problem, if any.
	Candidate, Problem string
}

func (p resumePage) render() ([]byte, error) {
	w := textsIn(p.Language, session.Formal)
	v := struct {
		pageFrame
		resumePage
		Alert string
	}{pageFrame: newPageFrame(w, p.Language, session.Formal, laterIn(p.Language, session.Formal).ResumeTitle), resumePage: p}
	if p.Problem != "" {
		v.Alert = w.problem(p.Problem)
	}
	return renderTemplate("resume.html", v)
}

// minePage is the page about continuing an interview elsewhere and about its data.
type minePage struct {
	Session session.Session
	// Link is the personal link, which is valid until Until. Resume is the address of the page for Code.
	Link, Resume, Code string
	Until              time.Time
	// Problem is the code of the problem, if any.
	Problem string
}

func (p minePage) render() ([]byte, error) {
	w, l := textsIn(p.Session.Language, p.Session.Register), laterIn(p.Session.Language, p.Session.Register)
	until := p.Until.UTC().Format(l.Date)
	v := struct {
		pageFrame
		minePage
		LinkLead, Letter, Mail, Candidate, Alert string
	}{
		pageFrame: newPageFrame(w, p.Session.Language, p.Session.Register, l.Mine), minePage: p,
		LinkLead: fmt.Sprintf(l.LinkLead, until), Letter: fmt.Sprintf(l.LinkText, p.Link, until),
	}
	// Mail programs do not read "+" as a space.
	v.Mail = "mailto:?subject=" + url.PathEscape(l.Subject) + "&body=" +
		strings.ReplaceAll(url.PathEscape(strings.ReplaceAll(v.Letter, "\n", "\r\n")), "&", "%26")
	if !strings.HasPrefix(p.Session.Candidate, generatedPrefix) {
		v.Candidate = p.Session.Candidate
	}
	if p.Problem != "" {
		v.Alert = w.problem(p.Problem)
	}
	return renderTemplate("mine.html", v)
}

// privacyPage is the page about the data that is kept.
type privacyPage struct {
	Language session.Language
	Offered  []session.Language
	Text     string
}

func (p privacyPage) render() ([]byte, error) {
	v := struct {
		pageFrame
		Blocks []block
		Others []languageChoice
	}{
		pageFrame: newPageFrame(textsIn(p.Language, session.Formal), p.Language, session.Formal, laterIn(p.Language, session.Formal).Privacy),
		Blocks:    parseBlocks(p.Text, p.Language),
	}
	for _, l := range p.Offered {
		if l != p.Language {
			v.Others = append(v.Others, languageChoice{Code: l, Name: languageNames[l]})
		}
	}
	return renderTemplate("privacy.html", v)
}

// privacy shows the text of the operator, or the default one: GET /privacy?language=fr|en.
func (s *Server) privacy(w http.ResponseWriter, r *http.Request) {
	l := session.Language(r.URL.Query().Get("language"))
	if !slices.Contains(s.options.Languages, l) {
		l = s.preferred(r)
	}
	text, ok := s.options.Privacy[l]
	if !ok {
		text = privacyText(l, s.options)
	}
	s.render(w, r, http.StatusOK, privacyPage{Language: l, Offered: s.options.Languages, Text: text})
}
