package view_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/view"
)

const hostile = `</div><script>alert(1)</script><img src=x onerror=alert(2)>" onmouseover="alert(3) ` + "\u202e\x1b[31m" + `'{{.}}`

var _ = Describe("the pages of runs", Label("H-04"), func() {
	var f *fixture
	BeforeEach(func(ctx SpecContext) { f = newFixture(ctx) })

	It("lead from the list to a run, a scenario, a trial, a trend and a comparison", func(ctx SpecContext) {
		a := f.add(ctx, 1, nil, shown{"order/status", []string{"Sent.", "Sent.", "Lost."}, "done"}, shown{"refund", []string{"Paid."}, "done"})
		b := f.add(ctx, 2, func(r *history.Run) { r.Branch, r.Commit = "feature", "abcdef0123456789" },
			shown{"order/status", []string{"Sent.", "Sent today.", "Lost."}, "error"}, shown{"refund", []string{"Paid."}, "done"})
		list := f.text("/")
		Expect(list).To(And(ContainSubstring(`href="/runs/`+a.ID+`"`), ContainSubstring(`href="/runs/`+b.ID+`"`), ContainSubstring("abcdef0"),
			ContainSubstring("1/2"), ContainSubstring("2/2"), ContainSubstring(`<option value="feature">`)))
		Expect(strings.Index(list, `<a href="/runs/`+b.ID)).To(BeNumerically("<", strings.Index(list, `<a href="/runs/`+a.ID)))

		run := f.text("/runs/" + b.ID)
		Expect(run).To(And(ContainSubstring("1 of 2 scenarios passed"), ContainSubstring(`href="/runs/`+b.ID+`/s/order%2Fstatus"`)))
		Expect(strings.Index(run, "order%2Fstatus")).To(BeNumerically("<", strings.Index(run, "/s/refund")), "the worst first")
		Expect(f.text("/runs/" + b.ID + "?show=failed")).NotTo(ContainSubstring("/s/refund"))
		Expect(f.text("/runs/" + b.ID + "?q=REF")).NotTo(ContainSubstring("/s/order"))
		Expect(f.text("/runs/latest")).To(ContainSubstring(b.ID))
		Expect(f.text("/?commit=ABCDEF")).To(And(ContainSubstring("/runs/"+b.ID), Not(ContainSubstring("/runs/"+a.ID))))
		Expect(list).To(ContainSubstring(`<td class="num">2s</td>`), "p95")

		scenario := f.text("/runs/" + a.ID + "/s/order%2Fstatus")
		Expect(scenario).To(MatchRegexp(`trials <a href="[^"]*/t/1">1</a> <a href="[^"]*/t/2">2</a> `), "equal outputs are one group")
		Expect(strings.Count(scenario, "<article")).To(Equal(2))
		Expect(scenario).To(ContainSubstring("latency_p95"))

		trial := f.text("/runs/" + a.ID + "/s/order%2Fstatus/t/3")
		Expect(trial).To(And(ContainSubstring("Prompt: Lost."), ContainSubstring("Call 1"), ContainSubstring("tokens in"),
			ContainSubstring(`href="/runs/`+a.ID+`/s/order%2Fstatus/t/2" rel="prev"`)))

		Expect(f.text("/s/order%2Fstatus")).To(And(ContainSubstring("2 runs"), ContainSubstring("latency_p95"),
			MatchRegexp(`href="/runs/`+a.ID+`/s/order%2Fstatus">(<bdi>)?`+a.ID)))
		compared := f.text("/compare?a=" + a.ID + "&b=" + b.ID)
		Expect(compared).To(And(ContainSubstring(a.ID), ContainSubstring(b.ID), ContainSubstring("scenario=order%2Fstatus")))
		Expect(f.text("/compare?run="+b.ID+"&run="+a.ID)).To(Equal(compared), "ticked in the list, where the newer run is above")
		outputs := f.text("/compare?a=" + a.ID + "&b=" + b.ID + "&scenario=order%2Fstatus&trial=2")
		Expect(outputs).To(And(ContainSubstring("Sent today."), ContainSubstring("The outputs differ.")))
		Expect(f.text("/compare?a=" + a.ID + "&b=" + b.ID + "&scenario=refund")).To(ContainSubstring("The outputs are equal."))
	})

	It("show hostile texts as texts", func(ctx SpecContext) {
		r := f.add(ctx, 1, func(r *history.Run) {
			r.Branch, r.Commit, r.Variant, r.Stopped, r.CI = hostile, hostile, hostile, hostile, hostile
		},
			shown{hostile, []string{hostile, "other"}, hostile})
		other := f.add(ctx, 2, nil, shown{hostile, []string{"other", hostile}, hostile})
		name := url.PathEscape(hostile)
		for _, path := range []string{
			"/", "/?branch=" + url.QueryEscape(hostile), "/runs/" + r.ID, "/runs/" + r.ID + "?q=" + url.QueryEscape(hostile),
			"/runs/" + r.ID + "/s/" + name, "/runs/" + r.ID + "/s/" + name + "/t/1", "/s/" + name + "?variant=" + url.QueryEscape(hostile),
			"/compare?a=" + r.ID + "&b=" + other.ID, "/compare?a=" + r.ID + "&b=" + other.ID + "&scenario=" + url.QueryEscape(hostile),
		} {
			body := f.text(path)
			Expect(body).NotTo(Or(ContainSubstring("<script>"), ContainSubstring("<img"), ContainSubstring(`" onmouseover`), ContainSubstring("\x1b"),
				ContainSubstring("\u202e")), path)
		}
		wrong := f.get("/runs/" + name)
		Expect(wrong.StatusCode).To(Equal(http.StatusNotFound))
		Expect(wrong.body).NotTo(ContainSubstring("<script>"))
	})

	It("show runs of other kinds without scenarios, and compare only runs that have some", func(ctx SpecContext) {
		a := f.add(ctx, 1, nil, shown{"a", []string{"x"}, "done"})
		explored := f.add(ctx, 2, func(r *history.Run) { r.Kind, r.Subject, r.Trials = history.Explored, "order/"+hostile, 68 }, shown{"a", []string{"x"}, "done"})
		c := f.add(ctx, 3, nil, shown{"a", []string{"y"}, "done"})
		list := f.text("/")
		Expect(list).To(And(ContainSubstring(`explore order/&lt;/div&gt;`), ContainSubstring(`value="`+a.ID+`"`), Not(ContainSubstring(`value="`+explored.ID+`"`)),
			ContainSubstring(`href="/compare?a=`+a.ID+"&amp;b="+c.ID+`"`), Not(ContainSubstring("a="+explored.ID)), Not(ContainSubstring("b="+explored.ID))))
		Expect(f.text("/runs/latest")).To(ContainSubstring(c.ID))
		Expect(f.text("/runs/" + explored.ID)).To(And(ContainSubstring(": 68 runs"), ContainSubstring("report.html"), ContainSubstring(explored.Folder),
			Not(ContainSubstring("Name contains"))))
		wrong := f.get("/compare?a=" + a.ID + "&b=" + explored.ID)
		Expect(wrong.StatusCode).To(Equal(http.StatusBadRequest))
		Expect(wrong.body).To(ContainSubstring("of the kind explore, which cannot be compared"))
	})

	It("divide a long history and a long run into pages", func(ctx SpecContext) {
		var many []shown
		for i := range 450 {
			many = append(many, shown{fmt.Sprintf("s%03d", i), []string{"a"}, "done"})
		}
		r := f.add(ctx, 1, nil, many...)
		for i := range 120 {
			e := history.Entry{Run: history.Run{ID: history.NewID(fmt.Sprint(i), start, ""), At: start.AddDate(0, 0, -i-1), SHA256: fmt.Sprint(i), Verdict: "pass"}}
			e.Began = e.At
			Expect(f.past.Add(ctx, &e, false)).To(BeTrue())
		}
		seen := map[string]bool{}
		pages := 0
		for path := "/"; path != ""; pages++ {
			body := f.text(path)
			for _, part := range strings.Split(body, `<input type="checkbox" name="run" value="`)[1:] {
				seen[part[:13]] = true
			}
			path = next(body)
		}
		Expect(seen).To(HaveLen(121))
		Expect(pages).To(Equal(3))
		Expect(f.text("/?from=50")).To(ContainSubstring("runs 51 to 100, the newest first"))
		Expect(f.text("/?until=" + start.AddDate(0, 0, -119).Format(time.DateOnly))).To(And(
			ContainSubstring(start.AddDate(0, 0, -119).Format(time.DateOnly)+" 12:00"), ContainSubstring(start.AddDate(0, 0, -120).Format(time.DateOnly)),
			Not(ContainSubstring(start.AddDate(0, 0, -118).Format(time.DateOnly))), ContainSubstring(`<a href="/">all runs</a>`)))
		Expect(f.text("/?until=" + start.AddDate(0, 0, -1).Format(time.DateOnly))).To(MatchRegexp(`href="[^"]*\buntil=2026-02-28[^"]*" rel="next"`))
		Expect(f.text("/?commit=ABC")).To(ContainSubstring("No run matches"))
		Expect(f.text("/?until=yesterday")).To(ContainSubstring("runs 1 to 50"))
		first := f.text("/runs/" + r.ID)
		Expect(first).To(And(ContainSubstring("1 to 200 of 450 scenarios"), Not(ContainSubstring("s200"))))
		last := f.text(next(f.text(next(first))))
		Expect(last).To(And(ContainSubstring("401 to 450"), ContainSubstring("s449")))
		Expect(f.text("/?from=99999999999999999999&branch=none")).To(ContainSubstring("No run matches"))
	})

	It("explain a run whose recording was deleted, replaced, cut off or damaged", func(ctx SpecContext) {
		r := f.add(ctx, 1, nil, shown{"a", []string{"x", "y"}, "done"})
		trial := "/runs/" + r.ID + "/s/a/t/2"
		Expect(f.get(trial).StatusCode).To(Equal(http.StatusOK))
		path := filepath.Join(r.Folder, "recording.jsonl")
		whole, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		for what, content := range map[string]string{
			"has the recording of another run than": string(whole[:len(whole)/2]),
			"this program reads":                    strings.Replace(string(whole), "rehearse.recording/1", "rehearse.recording/2", 1),
			"not a line of a recording":             "hello\n" + string(whole),
		} {
			Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
			a := f.get(trial)
			Expect(a.StatusCode).To(BeNumerically(">=", 400), what)
			Expect(a.body).To(ContainSubstring(what))
		}
		damaged := strings.Replace(string(whole), `"type":"call"`, `"type":"cal!"`, 1)
		Expect(os.WriteFile(path, []byte(damaged), 0o600)).To(Succeed())
		Expect(f.get("/runs/" + r.ID + "/s/a/t/1").body).To(ContainSubstring("unknown line type"))
		Expect(os.RemoveAll(r.Folder)).To(Succeed())
		a := f.get(trial)
		Expect(a.StatusCode).To(Equal(http.StatusNotFound))
		Expect(a.body).To(ContainSubstring("is no longer in"))
		Expect(f.text("/runs/"+r.ID)).To(ContainSubstring("1 of 1"), "the history has the results")
		_, err = f.past.Remove(ctx, []string{r.ID})
		Expect(err).NotTo(HaveOccurred())
		Expect(f.get("/runs/" + r.ID).body).To(ContainSubstring("it may have been pruned"))
	})

	It("read a trial of a recording of 100 MB in little memory", func() {
		server := benchServer()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		open(GinkgoTB(), server)
		runtime.ReadMemStats(&after)
		Expect(after.TotalAlloc-before.TotalAlloc).To(BeNumerically("<", 40<<20), "all allocations, of which few live at the same time")
	})

	It("answer for unknown runs, scenarios, trials and paths", func(ctx SpecContext) {
		r := f.add(ctx, 1, nil, shown{"a", []string{"x"}, "done"})
		for path, status := range map[string]int{
			"/runs/r000000000000": 404, "/runs/..%2f..%2fetc%2fpasswd": 404, "/runs/" + r.ID + "/s/..%2f..%2fsecret": 404, "/nix": 404,
			"/runs/" + r.ID + "/s/a/t/2": 404, "/runs/" + r.ID + "/s/a/t/x": 404, "/runs/" + r.ID + "/s/a/t/-1": 404, "/s/none": 404,
			"/compare": 400, "/compare?a=" + r.ID: 400, "/compare?a=" + r.ID + "&b=nix": 404, "/runs/live-000000000000": 404,
			"/runs/live-000000000000/events": 404, "/runs/latest~5": 404, "/runs/%00": 404,
		} {
			a := f.get(path)
			Expect(a.StatusCode).To(Equal(status), path)
			Expect(a.body).To(ContainSubstring("<h1>"), path)
		}
	})

	It("report a history that cannot be read, and explain an empty one", func(ctx SpecContext) {
		f.serve(view.Options{History: func(context.Context) (view.History, error) {
			return nil, errors.New("the file is of a newer version <b>")
		}})
		a := f.get("/")
		Expect(a.StatusCode).To(Equal(http.StatusInternalServerError))
		Expect(a.body).To(ContainSubstring("newer version &lt;b&gt;"))
		f.serve(view.Options{History: func(context.Context) (view.History, error) { return nil, nil }})
		Expect(f.text("/")).To(ContainSubstring("no runs in the history yet"))
		Expect(f.get("/runs/latest").StatusCode).To(Equal(http.StatusNotFound))
		Expect(f.get("/s/a").StatusCode).To(Equal(http.StatusNotFound))
	})
})

// next returns the address of the next page; empty on the last one.
func next(body string) string {
	before, _, found := strings.Cut(body, `" rel="next"`)
	if !found {
		return ""
	}
	return strings.ReplaceAll(before[strings.LastIndex(before, `href="`)+len(`href="`):], "&amp;", "&")
}

var _ = Describe("the guard of the pages", Label("H-04"), func() {
	var f *fixture
	BeforeEach(func(ctx SpecContext) { f = newFixture(ctx) })
	status := func(path string, change func(*http.Request)) int { return f.request(path, change).StatusCode }

	It("refuses requests without the token, of foreign hosts and of other sites", func() {
		bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
		for _, path := range []string{"/", "/metrics", "/style.css", "/script.js", "/runs/latest", "/runs/live-0/events", "/nix"} {
			Expect(status(path, func(*http.Request) {})).To(Equal(http.StatusForbidden), path)
			Expect(status(path, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token+"x") })).To(Equal(http.StatusForbidden), path)
			for _, host := range []string{"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"} {
				Expect(status(path, func(r *http.Request) { bearer(r); r.Host = host })).To(Equal(http.StatusForbidden), path+" "+host)
			}
			Expect(status(path, func(r *http.Request) {
				bearer(r)
				r.Header.Set("Sec-Fetch-Site", "cross-site")
				r.Header.Set("Sec-Fetch-Mode", "no-cors")
			})).To(Equal(http.StatusForbidden), path)
		}
		Expect(status("/", func(r *http.Request) { bearer(r); r.Host = "localhost:1" })).To(Equal(http.StatusOK))
		Expect(status("/?token=wrong", func(*http.Request) {})).To(Equal(http.StatusForbidden))
		f.serve(view.Options{Hosts: []string{"laptop.example"}})
		Expect(status("/", func(r *http.Request) { bearer(r); r.Host = "laptop.example:80" })).To(Equal(http.StatusOK))
		metrics := f.get("/metrics").body
		Expect(metrics).To(ContainSubstring(`rehearse_view_request_duration_seconds_count{route="/{$}",status="200"} 1`))
	})

	It("opens with the token of the address, which it then removes", func() {
		a := f.request("/runs/latest?x=1&token="+token, func(*http.Request) {})
		Expect(a.StatusCode).To(Equal(http.StatusSeeOther))
		Expect(a.Header.Get("Location")).To(Equal("/runs/latest?x=1"))
		cookies := a.Cookies()
		Expect(cookies).To(HaveLen(1))
		Expect(cookies[0].HttpOnly).To(BeTrue())
		Expect(cookies[0].SameSite).To(Equal(http.SameSiteStrictMode))
		Expect(status("/", func(r *http.Request) { r.AddCookie(cookies[0]) })).To(Equal(http.StatusOK))
		Expect(f.request("//evil.example/?token="+token, func(*http.Request) {}).Header.Get("Location")).NotTo(HavePrefix("//"))
	})

	It("only reads", func() {
		r, err := http.NewRequest(http.MethodPost, f.http.URL+"/", nil)
		Expect(err).NotTo(HaveOccurred())
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := f.client.Do(r)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(response.StatusCode).To(Equal(http.StatusMethodNotAllowed))
	})

	It("needs a token", func() {
		_, err := view.New(view.Options{})
		Expect(err).To(HaveOccurred())
	})
})
