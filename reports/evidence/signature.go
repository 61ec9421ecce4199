package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/rehearse-dev/rehearse/internal/input"
)

// Namespace separates signatures of statements from those of commits and other files, as ssh-keygen -n does.
const Namespace = "rehearse"

// maxKey limits the size of a file with keys.
const maxKey = 1 << 20

// OpenKey opens a private key for Sign: a file in one of OpenSSH's or PEM's formats without a passphrase, or the
// public key of a key in the SSH agent that listens on the socket. The key must be closed.
func OpenKey(path, socket string) (*Key, error) {
	text, err := input.ReadFile("key", path, maxKey)
	if err != nil {
		return nil, err
	}
	if public, _, _, _, err := ssh.ParseAuthorizedKey(text); err == nil {
		return agentKey(path, public, socket)
	}
	signer, err := ssh.ParsePrivateKey(text)
	if locked := (*ssh.PassphraseMissingError)(nil); errors.As(err, &locked) {
		return nil, fmt.Errorf("the key %s has a passphrase; add it to the SSH agent (ssh-add %s) and name its public key, %s.pub",
			path, path, path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a private key of SSH (%w); make one with: ssh-keygen -t ed25519 -f release-key", path, err)
	}
	return &Key{signer: signer}, nil
}

// Key signs statements.
type Key struct {
	signer ssh.Signer
	agent  net.Conn
}

// Fingerprint returns the fingerprint of the key, as ssh-keygen -l shows it.
func (k *Key) Fingerprint() string { return ssh.FingerprintSHA256(k.signer.PublicKey()) }

// Close closes the connection to the agent.
func (k *Key) Close() {
	if k != nil && k.agent != nil {
		_ = k.agent.Close() // nothing is written any more
	}
}

func agentKey(path string, public ssh.PublicKey, socket string) (*Key, error) {
	if socket == "" {
		return nil, fmt.Errorf("%s is a public key, but no SSH agent runs that could have its private key (SSH_AUTH_SOCK); "+
			"name the private key", path)
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("ask the SSH agent for the key: %w", err)
	}
	signers, err := agent.NewClient(conn).Signers()
	if err == nil {
		for _, signer := range signers {
			if bytes.Equal(signer.PublicKey().Marshal(), public.Marshal()) {
				return &Key{signer: signer, agent: conn}, nil
			}
		}
		err = fmt.Errorf("it does not have the private key of %s; add it with ssh-add", path)
	}
	_ = conn.Close()
	return nil, fmt.Errorf("ask the SSH agent for the key: %w", err)
}

// Sign returns a detached signature of an encoded statement, in the format of ssh-keygen -Y sign.
func Sign(statement []byte, key *Key) ([]byte, error) {
	signature, err := sshsig.Sign(bytes.NewReader(statement), key.signer, sshsig.HashSHA512, Namespace)
	if err != nil {
		return nil, fmt.Errorf("sign the statement: %w", err)
	}
	return sshsig.Armor(signature), nil
}

// Fingerprint returns the fingerprint of the key in a signature, as ssh-keygen -l shows it. The signature need not be valid.
func Fingerprint(signature []byte) (string, error) {
	parsed, err := sshsig.Unarmor(signature)
	if err != nil {
		return "", fmt.Errorf("read the signature: %w", err)
	}
	return ssh.FingerprintSHA256(parsed.PublicKey), nil
}

// Signers are public keys by who holds them.
type Signers []signer

type signer struct {
	who string
	key ssh.PublicKey
}

// ReadSigners reads a public key, or a file of allowed signers (ssh-keygen(1), ALLOWED SIGNERS) whose lines have no options
// but namespaces.
func ReadSigners(path string) (Signers, error) {
	text, err := input.ReadFile("public key", path, maxKey)
	if err != nil {
		return nil, err
	}
	var list Signers
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		s, err := parseSigner(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n+1, err)
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no public key", path)
	}
	return list, nil
}

// parseSigner reads a line: "ssh-ed25519 AAAA… comment" or "who@example.com ssh-ed25519 AAAA…".
func parseSigner(line string) (signer, error) {
	who, rest, _ := strings.Cut(line, " ")
	if !strings.Contains(who, "-") || strings.Contains(who, "@") { // not the type of a key
		rest = strings.TrimSpace(rest)
		if names, after, ok := strings.Cut(rest, `namespaces="`); ok && names == "" {
			list, keyed, _ := strings.Cut(after, `"`)
			if list != Namespace {
				return signer{}, fmt.Errorf("the key is for the namespaces %q, and statements are signed in %q", list, Namespace)
			}
			rest = strings.TrimSpace(keyed)
		}
		line = rest
	} else {
		who = ""
	}
	key, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(line))
	switch {
	case strings.Contains(line, "PRIVATE KEY"):
		return signer{}, errors.New("this is a private key; name the public one, which ends in .pub")
	case err != nil:
		return signer{}, errors.New(`not a public key; expected a line such as "ssh-ed25519 AAAA… comment"`)
	case len(options) > 0:
		return signer{}, fmt.Errorf("this program does not know the option %s; use ssh-keygen -Y verify", options[0])
	}
	if who == "" {
		who = comment
	}
	return signer{who, key}, nil
}

// ErrUnknownKey is the error of a valid signature by a key that is not among the signers.
var ErrUnknownKey = errors.New("it was made with another key")

// Check checks the signature of a statement, and returns who of the signers made it: the name beside the key, and its
// fingerprint.
func (list Signers) Check(statement, signature []byte) (who string, err error) {
	parsed, err := sshsig.Unarmor(signature)
	if err != nil {
		return "", fmt.Errorf("read the signature: %w", err)
	}
	for _, s := range list {
		if !bytes.Equal(s.key.Marshal(), parsed.PublicKey.Marshal()) {
			continue
		}
		if err := sshsig.Verify(bytes.NewReader(statement), parsed, s.key, parsed.HashAlgorithm, Namespace); err != nil {
			return "", fmt.Errorf("the signature does not belong to this statement: %w", err)
		}
		return strings.TrimSpace(s.who + " " + ssh.FingerprintSHA256(s.key)), nil
	}
	return "", fmt.Errorf("%w, %s", ErrUnknownKey, ssh.FingerprintSHA256(parsed.PublicKey))
}
