package history

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// Ref names a run: "latest", "latest~2", "branch:main", "branch:main~1", the id of a run or its
// first characters, or a commit or its first 7 or more characters.
type Ref struct {
	// Exactly one of ID, Commit and Branch is set, or none for the latest run. ID and Commit are
	// prefixes.
	ID, Commit, Branch string
	// Back is the number of newer runs to skip.
	Back int
}

var (
	idPattern     = lazyregexp.New(`^r[0-9a-f]{3,12}$`)
	commitPattern = lazyregexp.New(`^[0-9a-f]{7,64}$`)
	backPattern   = lazyregexp.New(`^(.+)~([0-9]{0,6})$`)
)

// ParseRef parses the name of a run.
func ParseRef(text string) (Ref, error) {
	var ref Ref
	name := text
	if m := backPattern().FindStringSubmatch(text); m != nil {
		name, ref.Back = m[1], 1
		if m[2] != "" {
			ref.Back, _ = strconv.Atoi(m[2]) // at most six digits
		}
	}
	branch, isBranch := strings.CutPrefix(name, "branch:")
	switch {
	case name == "latest":
	case isBranch && branch != "":
		ref.Branch = branch
	case idPattern().MatchString(name):
		if name != text {
			return ref, fmt.Errorf("%.100q: ~N counts back from latest, a branch or a commit, not from the id of a run", text)
		}
		ref.ID = name
	case commitPattern().MatchString(name):
		ref.Commit = name
	default:
		return ref, fmt.Errorf("%.100q is not the name of a run: write latest, latest~1, branch:NAME, "+
			"the id of a run or a commit (rehearse history lists them)", text)
	}
	return ref, nil
}

// String returns the reference in the form that ParseRef parses.
func (r Ref) String() string {
	name := "latest"
	switch {
	case r.ID != "":
		name = r.ID
	case r.Commit != "":
		name = r.Commit
	case r.Branch != "":
		name = "branch:" + r.Branch
	}
	if r.Back > 0 {
		name += fmt.Sprintf("~%d", r.Back)
	}
	return name
}
