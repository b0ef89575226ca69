// Package schema holds the JSON Schemas (draft 2020-12) of MA2H's documents, one folder per protocol version, written
// from the text of the specification. They say what ma2h.Shape says, for people and for programs in other languages; the
// tests hold the two to each other.
package schema

import (
	"embed"
	"io/fs"
	"slices"
)

// Base is what the $id of every schema begins with. It is a name; nothing needs to be served there.
const Base = "https://github.com/mash-hub/mash/schema/"

//go:embed v0.*/*.schema.json
var files embed.FS

// Files returns the schemas as a read-only file system: v0.6/message.schema.json and so on.
func Files() fs.FS { return files }

// Path returns where in Files the schema of that name lies: Path("0.6", "message") is v0.6/message.schema.json.
func Path(version, name string) string { return "v" + version + "/" + name + ".schema.json" }

// Bytes returns the schema of that name as a protocol version has it, and whether it has it: Bytes("0.6", "message").
func Bytes(version, name string) ([]byte, bool) {
	b, err := files.ReadFile(Path(version, name))
	return b, err == nil
}

// Versions returns the protocol versions that there are schemas of, oldest first.
func Versions() []string {
	return slices.Clone([]string{"0.1", "0.2", "0.3", "0.4", "0.5", "0.6"})
}
