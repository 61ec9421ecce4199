// Package fleet_test runs the commands of the Compose file and of the Kubernetes manifests on this machine, and
// a worker in its image. test/conformance checks the files against the schemas.
package fleet_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/database"
)

// address is that of the queue in all files.
const address = "postgres://rehearse@database/rehearse"

// fleet is a folder as in the image, with the built program.
type fleet struct {
	*WithT
	t     *testing.T
	dir   string
	queue string // the address of an empty database, without the password
}

// newFleet builds the program as the Dockerfile demands.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{WithT: NewWithT(t), t: t, dir: t.TempDir()}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(f.dir, "rehearse"), "../../cmd/rehearse")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	build.Stderr = t.Output()
	f.Expect(build.Run()).To(Succeed())
	f.Expect(os.CopyFS(filepath.Join(f.dir, "scenarios"), os.DirFS("scenarios"))).To(Succeed())
	return f
}

// withQueue makes an empty queue on the server that REHEARSE_TEST_POSTGRES names.
func withQueue(t *testing.T) *fleet {
	t.Helper()
	server := os.Getenv("REHEARSE_TEST_POSTGRES")
	if server == "" {
		t.Skip("REHEARSE_TEST_POSTGRES names no server")
	}
	f := newFleet(t)
	dsn, drop, err := database.Scratch(t.Context(), server)
	f.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { f.Expect(drop()).To(Succeed()) })
	u, err := url.Parse(dsn)
	f.Expect(err).NotTo(HaveOccurred())
	password, _ := u.User.Password()
	u.User = url.User(u.User.Username())
	f.queue = u.String()
	t.Setenv("PGPASSWORD", password)
	return f
}

// process is a running command of a container.
type process struct {
	*exec.Cmd
	mu    sync.Mutex
	out   bytes.Buffer
	ended chan struct{}
}

// Write implements io.Writer.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// start runs the arguments of a container, with the address of this test's database and a free port for the
// metrics, and with $(NAME) replaced as Kubernetes does.
func (f *fleet) start(args any, environ ...string) *process {
	f.t.Helper()
	changes := []string{address, f.queue, ":9464", "127.0.0.1:0"}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		changes = append(changes, "$("+name+")", value)
	}
	var line []string
	for _, arg := range args.([]any) {
		line = append(line, strings.NewReplacer(changes...).Replace(arg.(string)))
	}
	f.Expect(line).NotTo(ContainElement(ContainSubstring("$")))
	p := &process{ended: make(chan struct{})}
	p.Cmd = exec.Command(filepath.Join(f.dir, "rehearse"), line...)
	p.Dir, p.Stdout, p.Stderr = f.dir, p, p
	p.Env = append(os.Environ(), append(environ, "REHEARSE_OFFLINE=1", "NO_COLOR=1", "REHEARSE_HISTORY=none")...)
	f.Expect(p.Start()).To(Succeed())
	go func() { _ = p.Wait(); close(p.ended) }() // its state has the result
	f.t.Cleanup(func() { _ = p.Process.Kill(); <-p.ended })
	return p
}

// exits waits for the end of a command.
func (f *fleet) exits(p *process, code int) {
	f.t.Helper()
	f.Eventually(p.ended, "2m").Should(BeClosed(), p.text)
	f.Expect(p.ProcessState.ExitCode()).To(Equal(code), "%v", p.text())
}

// same checks that a recording is that of one machine.
func (f *fleet) same(folder string) {
	f.t.Helper()
	f.exits(f.start([]any{"run", "scenarios", "--trials", "100", "--out", "alone"}), 0)
	f.Expect(f.read(folder + "/recording.jsonl")).To(Equal(f.read("alone/recording.jsonl")))
}

func (f *fleet) read(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	f.Expect(err).NotTo(HaveOccurred())
	return string(data)
}

// stop ends a process as Docker and Kubernetes do.
func (f *fleet) stop(p *process) {
	f.t.Helper()
	f.Expect(p.Process.Signal(syscall.SIGTERM)).To(Succeed())
	f.exits(p, 130)
}

// load returns the documents of a file by their kinds and names.
func (f *fleet) load(file string) map[string]any {
	f.t.Helper()
	data, err := os.ReadFile(file)
	f.Expect(err).NotTo(HaveOccurred())
	all := map[string]any{}
	for text := range strings.SplitSeq(string(data), "\n---\n") {
		var one map[string]any
		f.Expect(yaml.Unmarshal([]byte(text), &one)).To(Succeed())
		name := ""
		if one["kind"] != nil {
			name = fmt.Sprint(one["kind"], "/", at(one, "metadata", "name"))
		}
		all[name] = one
	}
	return all
}

// at returns a value in decoded YAML.
func at(value any, path ...any) any {
	for _, key := range path {
		switch key := key.(type) {
		case string:
			m, _ := value.(map[string]any)
			value = m[key]
		case int:
			value = value.([]any)[key]
		}
	}
	return value
}

// container returns the only container of a workload.
func container(workload any) any {
	return at(workload, "spec", "template", "spec", "containers", 0)
}

// TestCompose is H-04: the workers and the run of the Compose file write the recording of one machine.
func TestCompose(t *testing.T) {
	f := withQueue(t)
	services := at(f.load("compose.yaml")[""], "services")
	command := at(services, "worker", "command")
	workers := []*process{f.start(command), f.start(command)}
	f.exits(f.start(at(services, "run", "command")), 0)
	f.same("rehearse-runs/fleet")
	for _, w := range workers {
		f.stop(w)
	}
}

// TestKubernetes is H-04: so do those of the manifests, whose probes the workers answer.
func TestKubernetes(t *testing.T) {
	f := withQueue(t)
	objects := f.load("kubernetes.yaml")
	worker := container(objects["Deployment/rehearse-worker"])
	workers := []*process{f.start(at(worker, "args")), f.start(at(worker, "args"))}
	for _, w := range workers {
		f.Eventually(w.text, "1m").Should(ContainSubstring("metrics are at "))
		base := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(w.text())
		for _, probe := range []string{"livenessProbe", "readinessProbe"} {
			get := at(worker, probe, "httpGet")
			f.Expect(at(get, "port")).To(Equal(at(worker, "ports", 0, "name")))
			path := at(get, "path").(string)
			f.Eventually(func() int {
				resp, err := http.Get(base + path)
				f.Expect(err).NotTo(HaveOccurred())
				f.Expect(resp.Body.Close()).To(Succeed())
				return resp.StatusCode
			}, "1m").Should(Equal(http.StatusOK), path)
		}
	}
	f.Expect(at(worker, "args")).To(ContainElement(fmt.Sprint(":", at(worker, "ports", 0, "containerPort"))))
	run := f.start(at(container(objects["Job/rehearse-run"]), "args"))
	f.stop(workers[1])
	f.exits(run, 0)
	f.same("rehearse-runs/fleet")
	f.stop(workers[0])
}

// TestShards is H-04: the pods of the Indexed Job, and then the Job that merges, write the recording of one machine.
func TestShards(t *testing.T) {
	f := newFleet(t)
	objects := f.load("shards.yaml")
	shards := objects["Job/rehearse-shards"]
	for index := range at(shards, "spec", "completions").(int) {
		f.exits(f.start(at(container(shards), "args"), fmt.Sprint("JOB_COMPLETION_INDEX=", index)), 0)
	}
	f.exits(f.start(at(container(objects["Job/rehearse-merge"]), "args")), 0)
	f.same("rehearse-runs/merged")
}

// TestImage is H-04: a worker in its image, on a file system that it cannot write to, takes part in a run of the same
// program outside. Without Docker it is skipped.
func TestImage(t *testing.T) {
	if out, err := exec.Command("docker", "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
		t.Skipf("Docker does not answer on this machine: %s", strings.TrimSpace(string(out)))
	}
	f := withQueue(t)
	authorities, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt")
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(os.WriteFile(filepath.Join(f.dir, "ca-certificates.crt"), authorities, 0o600)).To(Succeed())
	docker := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "docker", args...).CombinedOutput()
		f.Expect(err).NotTo(HaveOccurred(), string(out))
		return strings.TrimSpace(string(out))
	}
	const image = "rehearse-test-fleet"
	docker("build", "--tag", image, "--file", "Dockerfile", f.dir)
	t.Cleanup(func() { _ = exec.Command("docker", "rmi", "--force", image).Run() })
	line := []string{"run", "--detach", "--network", "host", "--read-only", "--tmpfs", "/tmp:mode=1777", "--init", "--env", "PGPASSWORD", image}
	for _, arg := range at(f.load("compose.yaml")[""], "services", "worker", "command").([]any) {
		line = append(line, strings.ReplaceAll(arg.(string), address, f.queue))
	}
	line = slices.DeleteFunc(line, func(arg string) bool { return arg == "--metrics" || arg == ":9464" }) // of this machine's network
	id := docker(line...)
	t.Cleanup(func() { _ = exec.Command("docker", "rm", "--force", id).Run() })
	f.exits(f.start([]any{"run", "scenarios", "--trials", "100", "--queue", address, "--out", "spread"}), 0)
	f.same("spread")
	docker("stop", "--time", "30", id)
	f.Expect(docker("inspect", "--format", "{{.State.ExitCode}}", id)).To(Equal("130"))
}
