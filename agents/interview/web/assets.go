package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/internal/htmlpage"
)

//go:embed assets
var assetFiles embed.FS

// assetPath is the prefix of the addresses of assets.
const assetPath = "/assets/"

// assetVersion is the hash of all assets, which is part of their addresses.
var assetVersion = sync.OnceValue(func() string {
	hash := sha256.New()
	err := fs.WalkDir(assetFiles, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := assetFiles.ReadFile(path)
		hash.Write(content)
		return err
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	hash.Write([]byte(htmlpage.Style("")))
	return hex.EncodeToString(hash.Sum(nil)[:6])
})

// shared are the style sheets before those of this server.
var shared = map[string]string{"assets/style.css": htmlpage.Base, "assets/operators.css": htmlpage.Style("")}

func assetURL(name string) string { return assetPath + assetVersion() + "/" + name }

// assetHandler serves the style, the script and the icon. The content at an address never changes.
func assetHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := strings.CutPrefix(r.URL.Path, assetPath+assetVersion())
		name = "assets" + name
		if info, err := fs.Stat(assetFiles, name); !ok || err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		if sheet, ok := shared[name]; ok {
			own, err := assetFiles.ReadFile(name)
			if err != nil {
				panic(err) // the file is part of the program
			}
			http.ServeContent(w, r, name, time.Time{}, strings.NewReader(sheet+string(own)))
			return
		}
		http.ServeFileFS(w, r, assetFiles, name)
	})
}
