package evidence_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/crypto/ssh"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/evidence"
)

func TestEvidence(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "reports/evidence")
}

// newKey writes a private key to a file, and returns its path and the line of its public key.
func newKey(private crypto.Signer, passphrase string) (path, public string) {
	block, err := ssh.MarshalPrivateKey(private, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	}
	Expect(err).NotTo(HaveOccurred())
	path = write("key", string(pem.EncodeToMemory(block)))
	key, err := ssh.NewPublicKey(private.Public())
	Expect(err).NotTo(HaveOccurred())
	return path, string(bytes.TrimSpace(ssh.MarshalAuthorizedKey(key)))
}

func elliptic() crypto.Signer {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	return private
}

func write(name, text string) string {
	path := filepath.Join(GinkgoT().TempDir(), name)
	Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	return path
}

func signers(lines string) evidence.Signers {
	list, err := evidence.ReadSigners(write("signers", lines))
	Expect(err).NotTo(HaveOccurred())
	return list
}

func sign(statement []byte, path string) []byte {
	key, err := evidence.OpenKey(path, "")
	Expect(err).NotTo(HaveOccurred())
	defer key.Close()
	signature, err := evidence.Sign(statement, key)
	Expect(err).NotTo(HaveOccurred())
	return signature
}

var _ = Describe("A signed statement", Label("H-05"), func() {
	text := []byte(`{"_type":"x"}` + "\n")

	DescribeTable("is checked with the public key",
		func(private func() crypto.Signer) {
			path, public := newKey(private(), "")
			signature := sign(text, path)
			who, err := signers(public+" lea@example.com").Check(text, signature)
			Expect(err).NotTo(HaveOccurred())
			Expect(who).To(HavePrefix("lea@example.com SHA256:"))

			_, err = signers(public).Check(append(text, ' '), signature)
			Expect(err).To(MatchError(ContainSubstring("does not belong to this statement")))
		},
		Entry("Ed25519", elliptic),
		Entry("RSA", func() crypto.Signer {
			private, err := rsa.GenerateKey(rand.Reader, 2048)
			Expect(err).NotTo(HaveOccurred())
			return private
		}),
	)

	It("of another key is refused, and its fingerprint is told", func() {
		path, public := newKey(elliptic(), "")
		_, other := newKey(elliptic(), "")
		signature := sign(text, path)
		_, err := signers(other).Check(text, signature)
		Expect(err).To(MatchError(evidence.ErrUnknownKey))
		print, fingerprintErr := evidence.Fingerprint(signature)
		Expect(fingerprintErr).NotTo(HaveOccurred())
		Expect(err).To(MatchError(ContainSubstring(print)))
		_, err = signers(other+"\n# a comment\n\nlea "+public).Check(text, signature)
		Expect(err).NotTo(HaveOccurred())
	})

	It("is checked by ssh-keygen, and checks what ssh-keygen signed", func() {
		keygen, err := exec.LookPath("ssh-keygen")
		if err != nil {
			Skip("there is no ssh-keygen")
		}
		path, public := newKey(elliptic(), "")
		signature, allowed := write("sig", string(sign(text, path))), write("allowed", `lea@example.com namespaces="rehearse" `+public+"\n")
		check := exec.Command(keygen, "-Y", "verify", "-f", allowed, "-I", "lea@example.com", "-n", evidence.Namespace, "-s", signature)
		check.Stdin = bytes.NewReader(text)
		out, err := check.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))

		make := exec.Command(keygen, "-Y", "sign", "-f", path, "-n", evidence.Namespace)
		make.Stdin = bytes.NewReader(text)
		theirs, err := make.Output()
		Expect(err).NotTo(HaveOccurred())
		list, err := evidence.ReadSigners(allowed)
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Check(text, theirs)).To(HavePrefix("lea@example.com "))
		make = exec.Command(keygen, "-Y", "sign", "-f", path, "-n", "file")
		make.Stdin = bytes.NewReader(text)
		theirs, err = make.Output()
		Expect(err).NotTo(HaveOccurred())
		_, err = list.Check(text, theirs)
		Expect(err).To(HaveOccurred(), "a signature for another purpose is none")
	})

	DescribeTable("is not made with what is not a usable key", func(make func() string, message string) {
		_, err := evidence.OpenKey(make(), "")
		Expect(err).To(MatchError(ContainSubstring(message)))
	},
		Entry("a key with a passphrase", func() string { path, _ := newKey(elliptic(), "secret"); return path }, "has a passphrase; add it to the SSH agent"),
		Entry("a public key without an agent", func() string { _, public := newKey(elliptic(), ""); return write("key.pub", public) }, "no SSH agent runs"),
		Entry("another file", func() string { return write("notes", "hello") }, "is not a private key of SSH"),
		Entry("no file", func() string { return "none" }, "none"),
	)

	DescribeTable("is not checked with what is not a public key", func(line, message string) {
		_, err := evidence.ReadSigners(write("signers", line))
		Expect(err).To(MatchError(ContainSubstring(message)))
	},
		Entry("an empty file", "", "has no public key"),
		Entry("a private key", "-----BEGIN OPENSSH PRIVATE KEY-----", "name the public one"),
		Entry("a key of another namespace", `lea namespaces="git" ssh-ed25519 AAAA`, `"git"`),
		Entry("anything else", "root:x:0:0", ":1: not a public key"),
	)
})

var _ = Describe("A statement", Label("H-05"), func() {
	run := reports.Run{ID: "r-1", Tool: "rehearse 1", Prices: "2026-11-20", EURPerUSD: 0.85, RateDate: "2026-05-08", LastHash: "ab", Lines: 3}
	from := reports.Origin{
		Began: time.Unix(1e9, 0).UTC(), Ended: time.Unix(1e9+60, 0).UTC(), By: "lea",
		Origin: history.Origin{Commit: "c0ffee", Dirty: true, Command: "rehearse run"},
	}
	heads := []record.Scenario{
		{File: "scenarios/b.yaml", Files: map[string]string{"b.yaml": "2", "text.md": "3"}},
		{File: "scenarios/a.yaml", Files: map[string]string{"a.yaml": "1", "text.md": "3"}},
	}

	It("names the files, the commit, the sources and the times", func() {
		s := evidence.New(run, from, map[string]string{"go": "go1"}, map[string]string{"report.json": "5", "recording.jsonl": "4"}, heads)
		Expect(s.Digests()).To(Equal(map[string]string{"recording.jsonl": "4", "report.json": "5"}))
		Expect(s.Subject[0].Annotations).To(HaveKeyWithValue("last_hash", "ab"))
		var names []string
		for _, d := range s.Predicate.BuildDefinition.ResolvedDependencies {
			names = append(names, d.Name+d.Digest["gitCommit"])
		}
		Expect(names).To(Equal([]string{"c0ffee", "scenarios/b.yaml", "scenarios/text.md", "scenarios/a.yaml"}))
		text, err := s.Encode()
		Expect(err).NotTo(HaveOccurred())
		back, err := evidence.Parse(text)
		Expect(err).NotTo(HaveOccurred())
		Expect(back.Predicate.RunDetails.Metadata).To(Equal(s.Predicate.RunDetails.Metadata))
		Expect(back.Predicate.BuildDefinition.ExternalParameters.By).To(Equal("lea"))
	})

	DescribeTable("of something else is refused", func(text string) {
		_, err := evidence.Parse([]byte(text))
		Expect(err).To(HaveOccurred())
	},
		Entry("no JSON", "{"),
		Entry("another type", `{"_type":"https://in-toto.io/Statement/v0.1"}`),
		Entry("the build of another program", `{"_type":"https://in-toto.io/Statement/v1","predicateType":"https://slsa.dev/provenance/v1"}`),
	)
})

func FuzzReadSigners(f *testing.F) {
	f.Add("lea ssh-ed25519 AAAA x\n", "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n", `{"_type":""}`)
	f.Fuzz(func(t *testing.T, keys, signature, statement string) {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, []byte(keys), 0o600); err != nil {
			t.Fatal(err)
		}
		list, _ := evidence.ReadSigners(path)
		if who, err := list.Check([]byte(statement), []byte(signature)); err == nil && len(list) == 0 {
			t.Fatalf("%q signed without a key", who)
		}
		_, _ = evidence.Parse([]byte(statement))
	})
}
