package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/internal/input"
)

// laterFlags are the flags of interview serve about resuming later and about the candidates' data.
type laterFlags struct {
	secret, keep, contact  string
	linkDays, addressHours int
	privacy                map[string]string
}

func (l *laterFlags) register(f *pflag.FlagSet) {
	f.StringVar(&l.secret, "secret", "", `file with the secret of links, codes and cookies, created if missing (default: in the store)`)
	f.IntVar(&l.linkDays, "link-days", 30, "days for which a personal link is valid")
	f.IntVar(&l.addressHours, "address-hours", 24, "hours for which the address of a finished interview opens it without cookie, link or code")
	f.StringVar(&l.keep, "keep", "", "delete sessions that were not used for this time, such as 90d (default: never)")
	f.StringVar(&l.contact, "privacy-contact", "", "whom to contact about data, on the privacy page")
	f.StringToStringVar(&l.privacy, "privacy", nil, "text file that replaces the privacy page in a language, such as fr=FILE")
}

// maxPrivacy is the maximum size of a text for the privacy page in bytes.
const maxPrivacy = 64 << 10

// options returns the options of a server without its secrets.
func (l *laterFlags) options() (o web.Options, err error) {
	if l.linkDays < 1 || l.linkDays > 3650 {
		return o, errors.New("--link-days must be from 1 to 3650")
	}
	if l.addressHours < 1 || l.addressHours > 24*3650 {
		return o, errors.New("--address-hours must be from 1 to 87600")
	}
	o.AddressTime = time.Duration(l.addressHours) * time.Hour
	o.LinkTime, o.Contact = time.Duration(l.linkDays)*24*time.Hour, l.contact
	if l.keep != "" {
		if o.Keep, err = age(l.keep); err == nil && o.Keep < time.Hour {
			err = errors.New("it must be at least 1h")
		}
		if err != nil {
			return o, fmt.Errorf("--keep: %w", err)
		}
	}
	o.Privacy = map[session.Language]string{}
	for _, language := range slices.Sorted(maps.Keys(l.privacy)) {
		if !slices.Contains(session.Languages(), session.Language(language)) {
			return o, fmt.Errorf("--privacy: unknown language %q; use fr=FILE or en=FILE", language)
		}
		text, err := input.ReadFile("privacy text", l.privacy[language], maxPrivacy)
		if err != nil {
			return o, fmt.Errorf("--privacy: %w", err)
		}
		o.Privacy[session.Language(language)] = string(text)
	}
	return o, nil
}
