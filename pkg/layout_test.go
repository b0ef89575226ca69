package pkg_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mash-hub/mash/"

// layout says which of our packages a package may import: those on its right and no other. To change it is to change
// the design. A row without a folder is a package that comes with its issue; test files are exempt. Names are folders
// under pkg/, but for those that topLevel names.
var layout = []struct{ name, imports string }{
	{"ma2h", ""},
	{"endpoint", ""},
	{"record", ""},
	{"recordtest", "record"},
	{"schema", ""},
	{"signature", "ma2h"},
	{"lifecycle", "ma2h"},
	{"password", ""},
	{"hub", "ma2h lifecycle password record signature"},
	{"hub/hubtest", "hub ma2h record"},
	{"sqlitestore", "record"},
	{"dynamostore", "record"},
	{"dynamostore/dynamotest", "dynamostore record"},
	{"sqsbell", "hub"},
	{"sfnclock", "hub record"},
	{"keyring", "hub record"},
	{"kmskey", "keyring"},
	{"callback", "hub ma2h"},
	{"metrics", ""},
	{"notice", "hub ma2h"},
	{"auth", "hub ma2h record"},
	{"httpapi", "auth endpoint hub ma2h record schema"},
	{"inbox", "auth hub ma2h"},
	{"controlapi", "auth endpoint httpapi hub ma2h record"},
	{"lambdahttp", ""},
	{"awshub", "dynamostore sqsbell sfnclock kmskey keyring callback notice auth httpapi inbox ..."},
	{"localhub", "sqlitestore keyring callback metrics notice auth httpapi inbox controlapi ..."},
	{"realtime", "hub"},
	{"client", "endpoint ma2h signature"},
	{"mcpserver", "client ma2h"},
	{"conform", "client endpoint ma2h signature schema"},
	{"ledger", "hub ma2h record"},
	{"a4a", "record"},
}

// programs stand above the table. A * is any of their folders, or any package that links no AWS SDK, which
// TestMashLinksNoAWS sees to.
var programs = []struct{ name, imports string }{
	{"cmd/mash", "*"},
	{"cmd/mash-aws", "awshub"},
	{"functions/*", "awshub lambdahttp sqsbell"},
	{"infra", "endpoint hub realtime sfnclock"},
}

// topLevel are the rows of layout that are no folder under pkg/.
var topLevel = []string{"schema"}

// allowed returns what the package in a folder below the root may import, as folders, and whether any row names it.
func allowed(dir string) (imports []string, ok bool) {
	for _, row := range layout {
		if folder(row.name) == dir {
			return folders(row.imports), true
		}
	}
	for _, row := range programs {
		if match, _ := path.Match(row.name, dir); match {
			return folders(row.imports), true
		}
	}
	return nil, false
}

func folder(name string) string {
	if slices.Contains(topLevel, name) {
		return name
	}
	return "pkg/" + name
}

// folders returns the folders of the named packages. A package that wires others (...) may also import what their rows
// name.
func folders(names string) []string {
	var dirs []string
	for _, name := range strings.Fields(names) {
		switch name {
		case "*":
			dirs = append(dirs, "*")
		case "...":
			for _, dir := range slices.Clone(dirs) {
				more, _ := allowed(dir)
				dirs = append(dirs, more...)
			}
		default:
			dirs = append(dirs, folder(name))
		}
	}
	return dirs
}

func TestImports(t *testing.T) {
	t.Parallel()
	files := 0
	for _, top := range []string{"pkg", "schema", "cmd", "functions", "infra"} {
		for _, file := range goFiles(t, top) {
			files++
			dir := path.Dir(file)
			may, ok := allowed(dir)
			if !ok {
				t.Errorf("%s: no row of the layout table names %s", file, dir)
				continue
			}
			for _, imported := range ours(t, file) {
				if !slices.Contains(may, imported) && !slices.Contains(may, "*") {
					t.Errorf("%s imports %s, which the layout table does not allow", file, imported)
				}
			}
		}
	}
	if files == 0 {
		t.Error("no Go files found")
	}
}

// goFiles returns the non-test Go files under a top-level folder, whatever their build constraints, as slash-separated
// paths below the root. The folder may be missing.
func goFiles(t *testing.T, top string) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(".."), top, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err) && file == top:
			return nil
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), "_")):
			return fs.SkipDir
		case strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go"):
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walk %s: %v", top, err)
	}
	return files
}

// ours returns the packages of this module that a file imports, as folders.
func ours(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", file), nil, parser.ImportsOnly)
	if err != nil {
		t.Errorf("parse %s: %v", file, err)
		return nil
	}
	var dirs []string
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Errorf("%s: import %s: %v", file, spec.Path.Value, err)
		}
		if dir, ok := strings.CutPrefix(imported, module); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func TestMashLinksNoAWS(t *testing.T) {
	t.Parallel()
	for _, dep := range linked(t, "cmd/mash") {
		if strings.HasPrefix(dep, "github.com/aws/") {
			t.Errorf("cmd/mash links %s; what needs AWS belongs in cmd/mash-aws", dep)
		}
	}
}

// TestFunctionsLinkNothingOfOthers is about the control API, which needs no credentials, and about what only an operator
// needs of the SDK, which would make every zip larger and every start slower.
func TestFunctionsLinkNothingOfOthers(t *testing.T) {
	t.Parallel()
	const sdk = "github.com/aws/aws-sdk-go-v2/"
	linked := linked(t, "functions")
	for _, other := range []string{module + "pkg/controlapi", sdk + "config", sdk + "service/cloudformation", sdk + "service/sts"} {
		if slices.Contains(linked, other) {
			t.Errorf("a function links %s", other)
		}
	}
}

// linked returns the import paths of everything that the programs in and under a folder link; none without the folder.
func linked(t *testing.T, dir string) []string {
	t.Helper()
	if len(goFiles(t, dir)) == 0 {
		return nil
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", module+dir+"/...")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -deps %s: %v\n%s", dir, err, stderr.String())
	}
	return strings.Fields(string(out))
}

// TestArchitecture holds the table in ARCHITECTURE.md, which is for people, to the one here.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```imports\n")
	table, _, ok := strings.Cut(after, "```")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no block ```imports")
	}
	var got, want []string
	for line := range strings.Lines(table) {
		name, imports, _ := strings.Cut(line, ":")
		got = append(got, fmt.Sprint(strings.TrimSpace(name), ": ", strings.Fields(imports)))
	}
	for _, row := range layout {
		want = append(want, fmt.Sprint(row.name, ": ", strings.Fields(row.imports)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table of ARCHITECTURE.md is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
