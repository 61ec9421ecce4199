package scenarios

import (
	"errors"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/httpturn"
	"github.com/rehearse-dev/rehearse/internal/jsonpath"
)

// checkHTTP checks an HTTP application, and returns how that can end.
func (c *checker) checkHTTP(d *HTTPDrive) []string {
	const at = "drive.http"
	switch {
	case d.URL == "" && (len(d.Run) == 0 || d.Run[0] == ""):
		c.add(at, "", "there is no application; write how it is started, as run: [program, argument], or the url: of one that is there already")
	case d.URL != "" && len(d.Run) > 0:
		c.add(at+".url", "", "an application that is started (run) gets its port in PORT; leave url out, or run")
	case d.URL != "":
		if _, err := httpturn.Base(d.URL); err != nil {
			c.add(at+".url", "", "%v", err)
		}
		if len(d.Env) > 0 {
			c.add(at+".env", "", "an application that is there already (url) has its variables; leave env out, or start it with run")
		}
		if d.Network != "" {
			c.add(at+".network", "", "an application that is there already (url) has its network; leave network out, or start it with run")
		}
	}
	c.checkWeb(at, &d.Web)
	return c.checkTalk(at, &d.Talk)
}

// checkContainer checks a container, and returns how that can end.
func (c *checker) checkContainer(d *ContainerDrive) []string {
	const at = "drive.container"
	switch {
	case d.Image == "" && d.Build == "":
		c.add(at, "", "there is no container; write its image:, or as build: the folder of its Dockerfile")
	case d.Image != "" && d.Build != "":
		c.add(at+".image", "", "the container has an image and is built; leave one of them out")
	}
	c.checkWeb(at, &d.Web)
	return c.checkTalk(at, &d.Talk)
}

// checkWeb checks how an application is spoken to.
func (c *checker) checkWeb(at string, w *Web) {
	if w.Health != "" && !strings.HasPrefix(w.Health, "/") {
		c.add(at+".health", "", "%q is no path; it begins with a slash, such as /healthz", w.Health)
	}
	if _, err := httpturn.Compile(httpturn.Request(w.Request)); err != nil {
		where := at + ".request"
		if f, ok := errors.AsType[*httpturn.FieldError](err); ok && c.doc.Has(where+"."+f.Field) {
			where, err = where+"."+f.Field, f.Err
		}
		c.add(where, "", "%v", err)
	}
	for _, path := range []struct{ name, text string }{{"answer", w.Answer}, {"session", w.Session}} {
		if path.text == "" {
			continue
		}
		if _, err := jsonpath.Parse(path.text); err != nil {
			c.add(at+"."+path.name, "", "%v", err)
		}
	}
}
