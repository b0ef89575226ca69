package inbox

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed static/* style/*.css
var staticFiles embed.FS

// styleSheet is the one style sheet of all pages: the files of style/, in the order of their names.
const styleSheet = "inbox.css"

// assets are the files that pages load, each under a name that holds a hash of its content, so that it may be kept for
// ever.
type assets struct {
	paths map[string]string // name in the folder to path on the server
	files map[string][]byte // name on the server to content
}

func loadAssets() assets {
	a := assets{paths: map[string]string{}, files: map[string][]byte{}}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, e := range entries {
		a.add(e.Name(), readStatic("static/"+e.Name()))
	}
	styles, err := fs.Glob(staticFiles, "style/*.css")
	if err != nil {
		panic(err) // the pattern is well formed
	}
	var sheet []byte
	for _, name := range styles {
		sheet = append(sheet, readStatic(name)...)
	}
	a.add(styleSheet, sheet)
	return a
}

func readStatic(name string) []byte {
	content, err := staticFiles.ReadFile(name)
	if err != nil {
		panic(err) // the file is embedded
	}
	return content
}

func (a assets) add(file string, content []byte) {
	sum := sha256.Sum256(content)
	ext := path.Ext(file)
	name := strings.TrimSuffix(file, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	a.paths[file], a.files[name] = "/static/"+name, content
}

func (a assets) path(name string) string { return a.paths[name] }

func (in *Inbox) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	content, ok := in.assets.files[name]
	if !ok {
		in.serve(w, r, route{handle: (*visit).nowhere, open: true})
		return
	}
	setHeaders(w.Header())
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	_, _ = w.Write(content) // a client that has gone away is no error of ours
}
