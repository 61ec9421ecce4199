// Package fleet_test checks the files of examples/fleet with the loader of Docker Compose and the types of Kubernetes.
package fleet_test

import (
	"os"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const folder = "../../../examples/fleet/"

// TestCompose is H-04: the Compose file follows the specification, and needs a password.
func TestCompose(t *testing.T) {
	g := NewWithT(t)
	data, err := os.ReadFile(folder + "compose.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	load := func(text string, environ types.Mapping) (*types.Project, error) {
		return loader.LoadWithContext(t.Context(), types.ConfigDetails{
			WorkingDir: folder, Environment: environ, ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: []byte(text)}},
		}, func(o *loader.Options) { o.Profiles = []string{"run"} })
	}
	password := types.Mapping{"PGPASSWORD": "s3cret"}
	project, err := load(string(data), password)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(project.ServiceNames()).To(ConsistOf("database", "run", "worker"))
	g.Expect(*project.Services["worker"].Environment["PGPASSWORD"]).To(Equal(*project.Services["database"].Environment["POSTGRES_PASSWORD"]))
	g.Expect(*project.Services["worker"].Deploy.Replicas).To(BeNumerically(">", 1))
	g.Expect(project.Services["run"].Restart).To(Equal("no"))

	_, err = load(string(data), nil)
	g.Expect(err).To(MatchError(ContainSubstring("set PGPASSWORD")))
	_, err = load(strings.ReplaceAll(string(data), "stop_grace_period", "stop_grace"), password)
	g.Expect(err).To(HaveOccurred(), "the check can fail")
}

// decode decodes a document as its kind demands.
func decode(text string) (any, *corev1.PodSpec, error) {
	var kind struct{ Kind string }
	if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
		return nil, nil, err
	}
	switch kind.Kind {
	case "Deployment":
		var d appsv1.Deployment
		err := yaml.UnmarshalStrict([]byte(text), &d)
		return &d, &d.Spec.Template.Spec, err
	case "Job":
		var j batchv1.Job
		err := yaml.UnmarshalStrict([]byte(text), &j)
		return &j, &j.Spec.Template.Spec, err
	}
	var claim corev1.PersistentVolumeClaim
	return &claim, nil, yaml.UnmarshalStrict([]byte(text), &claim)
}

// TestKubernetes is H-04: the manifests have the fields of their kinds, and agree with themselves.
func TestKubernetes(t *testing.T) {
	g := NewWithT(t)
	found := map[string]int{}
	for _, file := range []string{"kubernetes.yaml", "shards.yaml"} {
		data, err := os.ReadFile(folder + file)
		g.Expect(err).NotTo(HaveOccurred())
		for text := range strings.SplitSeq(string(data), "\n---\n") {
			object, pod, err := decode(text)
			g.Expect(err).NotTo(HaveOccurred(), text)
			checkObject(g, object)
			if pod == nil {
				found["claim"]++
				continue
			}
			found["pod"]++
			checkPod(g, pod)
			_, _, err = decode(strings.Replace(text, "restartPolicy:", "restart:", 1) + "  more: 1\n")
			g.Expect(err).To(HaveOccurred(), "the check can fail")
		}
	}
	g.Expect(found).To(Equal(map[string]int{"claim": 2, "pod": 4}))
}

// checkObject checks what a server would refuse.
func checkObject(g *WithT, object any) {
	switch o := object.(type) {
	case *appsv1.Deployment:
		g.Expect(o.APIVersion).To(Equal("apps/v1"))
		for key, value := range o.Spec.Selector.MatchLabels {
			g.Expect(o.Spec.Template.Labels).To(HaveKeyWithValue(key, value))
		}
	case *batchv1.Job:
		g.Expect(o.APIVersion).To(Equal("batch/v1"))
		g.Expect(o.Spec.Template.Spec.RestartPolicy).To(Equal(corev1.RestartPolicyNever))
		if o.Spec.BackoffLimitPerIndex != nil {
			g.Expect(*o.Spec.CompletionMode).To(Equal(batchv1.IndexedCompletion))
		}
		if o.Spec.PodFailurePolicy != nil {
			for _, rule := range o.Spec.PodFailurePolicy.Rules {
				g.Expect(rule.Action).To(BeElementOf(batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionFailIndex))
				g.Expect(rule.Action == batchv1.PodFailurePolicyActionFailIndex).To(Equal(rule.OnExitCodes != nil))
			}
		}
	case *corev1.PersistentVolumeClaim:
		g.Expect(o.APIVersion).To(Equal("v1"))
	}
}

// checkPod checks that a pod mounts its volumes, may not do more than it must, and has no password.
func checkPod(g *WithT, pod *corev1.PodSpec) {
	var volumes []string
	for _, v := range pod.Volumes {
		volumes = append(volumes, v.Name)
	}
	g.Expect(*pod.SecurityContext.RunAsNonRoot).To(BeTrue())
	g.Expect(pod.Containers).To(HaveLen(1))
	for _, c := range pod.Containers {
		g.Expect(*c.SecurityContext.ReadOnlyRootFilesystem).To(BeTrue())
		g.Expect(c.VolumeMounts).To(HaveLen(len(volumes)))
		for _, m := range c.VolumeMounts {
			g.Expect(volumes).To(ContainElement(m.Name))
		}
		for _, variable := range c.Env {
			g.Expect(variable.Value).To(BeEmpty())
			g.Expect(variable.ValueFrom.SecretKeyRef).NotTo(BeNil())
		}
	}
}
