package redact

// forms is the Redactor that finds only the well-known forms.
var forms = &Redactor{literals: newTable([]literal{
	{text: "sk-", kind: "api-key", end: token(key, 16, someDigit)},
	{text: "sk-proj-", kind: "api-key", end: token(key, 20, nil)},
	{text: "sk-ant-", kind: "api-key", end: token(key, 20, nil)},
	{text: "sk-svcacct-", kind: "api-key", end: token(key, 20, nil)},
	{text: "sk-admin-", kind: "api-key", end: token(key, 20, nil)},
	{text: "gsk_", kind: "api-key", end: token(alnum, 30, nil)},
	{text: "xai-", kind: "api-key", end: token(alnum, 30, nil)},
	{text: "pplx-", kind: "api-key", end: token(alnum, 30, nil)},
	{text: "nvapi-", kind: "api-key", end: token(key, 30, nil)},
	{text: "hf_", kind: "huggingface-token", end: token(alnum, 30, nil)},

	{text: "ghp_", kind: "github-token", end: token(alnum, 30, nil)},
	{text: "gho_", kind: "github-token", end: token(alnum, 30, nil)},
	{text: "ghu_", kind: "github-token", end: token(alnum, 30, nil)},
	{text: "ghs_", kind: "github-token", end: token(alnum, 30, nil)},
	{text: "ghr_", kind: "github-token", end: token(alnum, 30, nil)},
	{text: "github_pat_", kind: "github-token", end: token(key, 22, nil)},
	{text: "glpat-", kind: "gitlab-token", end: token(dotted, 20, nil)},
	{text: "gldt-", kind: "gitlab-token", end: token(dotted, 20, nil)},
	{text: "glrt-", kind: "gitlab-token", end: token(dotted, 20, nil)},
	{text: "npm_", kind: "npm-token", end: token(alnum, 30, nil)},

	{text: "xoxa-", kind: "slack-token", end: token(key, 10, someDigit)},
	{text: "xoxb-", kind: "slack-token", end: token(key, 10, nil)},
	{text: "xoxp-", kind: "slack-token", end: token(key, 10, nil)},
	{text: "xoxr-", kind: "slack-token", end: token(key, 10, nil)},
	{text: "xoxs-", kind: "slack-token", end: token(key, 10, nil)},
	{text: "xapp-", kind: "slack-token", end: token(key, 20, someDigit)},

	{text: "sk_live_", kind: "stripe-key", end: token(alnum, 16, nil)},
	{text: "sk_test_", kind: "stripe-key", end: token(alnum, 16, nil)},
	{text: "rk_live_", kind: "stripe-key", end: token(alnum, 16, nil)},
	{text: "rk_test_", kind: "stripe-key", end: token(alnum, 16, nil)},
	{text: "SG.", kind: "sendgrid-key", end: token(dotted, 40, someDigit)},

	{text: "AKIA", kind: "aws-key-id", end: token(upperDigit, 16, nil)},
	{text: "ASIA", kind: "aws-key-id", end: token(upperDigit, 16, nil)},
	{text: "AIza", kind: "google-api-key", end: token(key, 35, nil)},
	{text: "ya29.", kind: "google-token", end: token(dotted, 20, nil)},

	{text: "eyJ", kind: "jwt", end: jsonToken},
	{text: "bearer", kind: "bearer-token", fold: true, end: bearer},
	{text: "basic", kind: "basic-auth", fold: true, end: basic},
	{text: "authorization", kind: "authorization", fold: true, end: authorization},
	{text: "api-key", kind: "api-key", fold: true, end: header},
	{text: "auth-token", kind: "api-key", fold: true, end: header},
	{text: "private-token", kind: "api-key", fold: true, end: header},
	{text: "security-token", kind: "api-key", fold: true, end: header},
	{text: "://", kind: "url-password", end: userinfo},
	{text: beginLine, kind: "private-key", end: privateKey},
})}

// class is a class of bytes.
type class int

const (
	upperDigit class = iota // of key ids
	alnum                   // letters and digits
	key                     // of base64url (RFC 4648, section 5)
	dotted                  // key and dots
	b64                     // of base64 and of bearer tokens (b64token, RFC 6750)
	classes
)

// members are the bytes of each class.
var members = func() (all [classes][256]bool) {
	const letters, capitals, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	for c, bytes := range map[class]string{
		upperDigit: capitals + digits,
		alnum:      letters + capitals + digits,
		key:        letters + capitals + digits + "-_",
		dotted:     letters + capitals + digits + "-_.",
		b64:        letters + capitals + digits + "-_.~+/=",
	} {
		for i := range len(bytes) {
			all[c][bytes[i]] = true
		}
	}
	return all
}()
