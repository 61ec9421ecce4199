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

// assetPath is where the pages look for Assets.
const assetPath = "/assets/"

// assetVersion is the hash of all assets: a new one makes browsers fetch them anew.
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
	hash.Write([]byte(htmlpage.Base))
	return hex.EncodeToString(hash.Sum(nil)[:6])
})

const stylePath = "assets/style.css"

// styleSheet is the style sheet of all pages, and what is of these pages' own.
func styleSheet() string {
	own, err := assetFiles.ReadFile(stylePath)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return htmlpage.Base + string(own)
}

func assetURL(name string) string { return assetPath + assetVersion() + "/" + name }

// assetHandler answers with the style, the script and the icon. They never change
// under one address.
func assetHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := strings.CutPrefix(r.URL.Path, assetPath+assetVersion())
		name = "assets" + name
		if info, err := fs.Stat(assetFiles, name); !ok || err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		if name == stylePath {
			http.ServeContent(w, r, name, time.Time{}, strings.NewReader(styleSheet()))
			return
		}
		http.ServeFileFS(w, r, assetFiles, name)
	})
}
