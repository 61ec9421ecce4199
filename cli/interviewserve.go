package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

const serveExitCodes = `Exit codes:
  0    ended by SIGINT or SIGTERM, in good order
  1    ended with unfinished steps; they are resumed when it starts again
  2    usage or configuration: nothing was served
  3    it could not listen, or the store did not open or is served by another process`

// serveFlags are the flags of interview serve.
type serveFlags struct {
	modelFlags
	contentFlags
	listen      string
	store       string
	tokenFile   string
	instance    string
	callTimeout time.Duration
	drain       time.Duration
	overdue     time.Duration
	hosts       []string
	proxies     []string
	invite      bool
	open        bool
	starts      int
	allStarts   int
	limits      sessionLimits
	later       laterFlags
	quiet       bool
}

func (a *app) interviewServeCommand() *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve interviews to programs (POST /axiom) and to people (a page)",
		Long: `serve conducts any number of interviews at once, until SIGINT or SIGTERM; it then finishes the
steps in progress. A second signal ends it at once: stored data is kept, and a step that was cut off
is resumed when the server starts again with the same --instance.

A token (REHEARSE_TOKEN, or the first line of --token-file) opens /sessions and the audits, and
closes /metrics to others. Logs are written to standard error: text on a terminal, JSON elsewhere.
An interview begins with an invitation (rehearse interview invite), unless the server listens on a
loopback address or --open is set; behind a proxy on this machine, set --invite.
Spans are sent to OTEL_EXPORTER_OTLP_ENDPOINT. REHEARSE_OFFLINE=1 forbids --live except for a server
on this machine.

` + serveExitCodes,
		Example: `  rehearse interview serve --script lea
  rehearse interview serve --script tom --store memory: --time-scale 0.1
  rehearse interview serve --script lea --job nurse.yaml --job buyer.yaml
  rehearse interview serve --live --store postgres://axiom@db/interviews
  rehearse interview serve --live --max-cost-per-day 20 --trusted-proxy 10.0.0.0/8`,
		Args: arguments(0, 0, "serve takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.interviewServe(cmd.Context(), flags) },
	}
	flags.modelFlags.register(cmd)
	f := cmd.Flags()
	flags.contentFlags.register(f)
	f.StringVar(&flags.listen, "listen", "127.0.0.1:8080", "address to listen on; port 0 takes a free one")
	a.storeFlag(f, &flags.store)
	f.StringVar(&flags.tokenFile, "token-file", "", "file with the token for /sessions, audits and /metrics")
	f.StringVar(&flags.instance, "instance", "default", "name of this server; each server of a store needs its own")
	f.DurationVar(&flags.callTimeout, "call-timeout", time.Minute, "time limit of one call to the model")
	f.DurationVar(&flags.drain, "drain-timeout", 90*time.Second, "how long to wait at the end for unfinished steps")
	f.DurationVar(&flags.overdue, "overdue-after", web.DefaultOverdue, "age from which an owed message is overdue, in the metrics")
	f.StringSliceVar(&flags.hosts, "host", nil, "a further name by which requests may address this server")
	f.StringSliceVar(&flags.proxies, "trusted-proxy", nil,
		"address or network of a proxy whose X-Forwarded-For and X-Forwarded-Proto describe the client, such as 10.0.0.0/8")
	f.IntVar(&flags.starts, "starts-per-minute", web.DefaultStarts, "interviews that one address may start in a minute; 0 means no limit")
	f.IntVar(&flags.allStarts, "all-starts-per-minute", web.DefaultAllStarts,
		"interviews that all addresses may start in a minute; 0 means no limit")
	f.BoolVar(&flags.invite, "invite", false, "require an invitation to begin an interview; the default unless --listen is a loopback address")
	f.BoolVar(&flags.open, "open", false, "let anybody begin interviews; the default on a loopback address")
	cmd.MarkFlagsMutuallyExclusive("invite", "open")
	flags.limits.register(f)
	flags.later.register(f)
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "log only warnings and errors")
	return cmd
}

// interviewServe serves until ctx ends.
func (a *app) interviewServe(ctx context.Context, flags serveFlags) (err error) {
	if err := flags.check(); err != nil {
		return usage(err)
	}
	options, err := flags.options(a.getenv)
	if err != nil {
		return usage(err)
	}
	count := newCounter()
	about, err := flags.load(count, flags.model)
	if err != nil {
		return usage(err)
	}
	means, err := a.interviewMeans(ctx, flags.modelFlags, flags.store, flags.instance, count)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, means.close()) }()
	if options.Secrets, err = cli.Secrets(ctx, flags.later.secret, means.store); err != nil {
		return interviewError(err)
	}
	addressKey, err := means.store.Secret(ctx, "addresses")
	if err != nil {
		return noVerdict(err)
	}
	log := cli.Logger(a.stderr, a.terminal(), flags.quiet)
	tracer, flush, err := cli.Tracer(ctx, a.getenv, backendOpenAI, log)
	if err != nil {
		return usage(err)
	}
	defer flush()

	audits, err := auditOptions(flags.prices)
	if err != nil {
		return usage(err)
	}
	tracer.CostEUR = costEUR(audits)
	metrics := web.NewMetrics()
	service, err := a.interviewService(flags.limits.in(interview.Options{
		Model: flags.model, CallTimeout: flags.callTimeout, Instance: flags.instance, AddressKey: addressKey,
		RequireInvitation: options.Invite,
	}), interview.Deps{
		Store: metrics.Store(means.store), Backend: tracer.Backend(means.backend), Count: count, Sink: metrics, Log: log,
		Jobs: about.jobs, Prompts: about.prompts,
	}, flags.prices)
	if err != nil {
		return usage(err)
	}
	options.EURPerUSD, options.OverdueAfter, options.Jobs = audits.EURPerUSD, flags.overdue, about.jobs
	server, err := web.New(options, web.Deps{
		Service: service, Store: means.store, Clock: clock.Real(), Log: log, Metrics: metrics, Tracer: tracer,
		Audit: a.auditOf(means.store, audits),
	})
	if err != nil {
		return noVerdict(err)
	}
	listener, err := loopback.Listen(flags.listen)
	if err != nil {
		return usage(err) // nothing was served
	}
	a.announce(listener.Addr(), flags, means.store)
	if err := errors.Join(server.Serve(ctx, listener), finishSteps(ctx, service, flags.drain)); err != nil {
		return &exitError{exitFail, err}
	}
	return nil
}

// finishSteps waits for the steps in progress: a step continues after its client has left, so it does not end with the server.
func finishSteps(ctx context.Context, service *interview.Service, limit time.Duration) error {
	ctx, cancel := clock.Real().WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return service.Shutdown(ctx)
}

// check reports limits that make no sense.
func (flags *serveFlags) check() error {
	switch {
	case flags.starts < 0 || flags.allStarts < 0:
		return errors.New("--starts-per-minute and --all-starts-per-minute must be at least 0")
	case flags.callTimeout <= 0 || flags.drain <= 0 || flags.overdue <= 0:
		return errors.New("--call-timeout, --drain-timeout and --overdue-after must be more than 0")
	}
	return flags.limits.check()
}

// costEUR returns a function that computes the cost of a call in EUR, if its price is known.
func costEUR(o audit.Options) func(model string, u llm.Usage) (float64, bool) {
	return func(model string, u llm.Usage) (float64, bool) {
		cost, ok := o.Price(model, u)
		if !ok {
			return 0, false
		}
		return cost.In(quantity.EUR, o.EURPerUSD)
	}
}

// isLoopback reports whether only this machine reaches an address to listen on.
func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	address, failed := netip.ParseAddr(host)
	return err == nil && (host == "localhost" || failed == nil && address.IsLoopback())
}

// trustedProxies reads addresses and networks.
func trustedProxies(words []string) ([]netip.Prefix, error) {
	proxies := make([]netip.Prefix, len(words))
	for i, word := range words {
		network, err := netip.ParsePrefix(word)
		if err != nil {
			address, failed := netip.ParseAddr(word)
			if failed != nil {
				return nil, fmt.Errorf("--trusted-proxy %.60q must be an address or a network, such as 10.0.0.0/8", word)
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		proxies[i] = network.Masked()
	}
	return proxies, nil
}

// options returns the options of the server without its secrets.
func (flags *serveFlags) options(getenv func(string) string) (web.Options, error) {
	token, err := cli.Token(getenv, flags.tokenFile)
	if err != nil {
		return web.Options{}, err
	}
	o, err := flags.later.options()
	o.Invite = flags.invite || !flags.open && !isLoopback(flags.listen)
	o.Token, o.Instance, o.Languages = token, flags.instance, offered(flags.script)
	o.DrainTimeout, o.Hosts = flags.drain, flags.hosts
	o.StartsPerMinute, o.AllStartsPerMinute = orUnlimited(flags.starts), orUnlimited(flags.allStarts)
	if err == nil {
		o.TrustedProxies, err = trustedProxies(flags.proxies)
	}
	return o, err
}

// offered lists the languages, that of a scripted persona first, for browsers that ask for none
// of them.
func offered(script string) []session.Language {
	languages := session.Languages()
	if p, err := kind.LoadPersona(script); err == nil {
		others := slices.DeleteFunc(languages, func(l session.Language) bool { return l == p.Language })
		languages = append([]session.Language{p.Language}, others...)
	}
	return languages
}

// announce prints the address of the server.
func (a *app) announce(address net.Addr, flags serveFlags, st *store.Store) {
	url := "http://" + address.String() + "/"
	fmt.Fprintln(a.stdout, url)
	who := "a real model writes: " + flags.model
	if flags.script != "" {
		who = "the script of " + flags.script + " writes, no model is called"
	}
	fmt.Fprintf(a.stderr, "open %s in a browser to take an interview; end with Ctrl-C\n%s; kept in %s (%s)\n",
		url, who, store.Name(a.storeName(flags.store)), st.Driver())
	if ip, ok := address.(*net.TCPAddr); ok && !ip.IP.IsLoopback() {
		fmt.Fprintln(a.stderr, "warning: this address is open to other machines; allow the names that they use with --host")
	}
}

// interviewService returns a service in real time whose calls have costs in EUR.
func (a *app) interviewService(o interview.Options, d interview.Deps, prices string) (*interview.Service, error) {
	table, err := priceTable(prices)
	if err != nil {
		return nil, err
	}
	cost := table.CostIn(quantity.EUR)
	d.Clock, d.Price = clock.Real(), func(model string, u llm.Usage) (quantity.Money, bool) {
		amount, ok := cost(cmp.Or(model, o.Model), u)
		return quantity.Money{Amount: amount, Currency: quantity.EUR}, ok
	}
	o.EURPerUSD = table.EURPerUSD
	return interview.New(o, d)
}

// sessionLimits are the flags that limit one session, one day and one address; 0 means no limit.
type sessionLimits struct {
	calls, retries int
	cost           float64
	day, address   interview.Budget
}

func (l *sessionLimits) register(f *pflag.FlagSet) {
	f.IntVar(&l.calls, "max-calls", interview.DefaultMaxCalls, "calls that one session may make; 0 means no limit")
	f.Float64Var(&l.cost, "max-cost", interview.DefaultMaxCost, "EUR that one session may spend; 0 means no limit")
	f.IntVar(&l.retries, "max-retries", interview.DefaultMaxRetries, "retries that the candidate may request; 0 means no limit")
	f.IntVar(&l.day.Calls, "max-calls-per-day", 0, "calls that all sessions of the store may make in a day (UTC); 0 means no limit")
	f.Float64Var(&l.day.Cost, "max-cost-per-day", 0, "EUR that all sessions of the store may spend in a day; 0 means no limit")
	f.IntVar(&l.address.Calls, "max-calls-per-address", 0, "calls that one address may cause in a day; 0 means no limit")
	f.Float64Var(&l.address.Cost, "max-cost-per-address", 0, "EUR that one address may spend in a day; 0 means no limit")
}

func (l *sessionLimits) check() error {
	if min(l.calls, l.retries, l.day.Calls, l.address.Calls) < 0 || !(min(l.cost, l.day.Cost, l.address.Cost) >= 0) {
		return errors.New("the limits --max-calls, --max-cost, --max-retries and those per day and per address must be at least 0")
	}
	return nil
}

func (l *sessionLimits) in(o interview.Options) interview.Options {
	o.MaxCalls, o.MaxCost, o.MaxRetries = orUnlimited(l.calls), orUnlimited(l.cost), orUnlimited(l.retries)
	o.PerDay, o.PerAddress = l.day, l.address
	return o
}

// orUnlimited converts the limit of a flag, where 0 means none, to that of options.
func orUnlimited[T int | float64](limit T) T {
	if limit == 0 {
		return -1
	}
	return limit
}

// means are the model and the store of interviews.
type means struct {
	backend llm.Backend
	store   *store.Store
	close   func() error
}

func (a *app) interviewMeans(
	ctx context.Context, model modelFlags, storeFlag, instance string, count func(model, text string) int,
) (m means, err error) {
	if m.backend, err = a.interviewBackend(model, count); err != nil {
		return m, err
	}
	var release func() error
	if m.store, release, err = cli.Claim(ctx, a.storeName(storeFlag), instance); err != nil {
		return m, interviewError(err)
	}
	m.close = func() error {
		if err := release(); err != nil {
			return noVerdict(err)
		}
		return nil
	}
	return m, nil
}
