package client_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestThePackageCommentCompiles holds the code of the package comment to the file of its Examples: the same declarations,
// letter by letter, and the imports that they need.
func TestThePackageCommentCompiles(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_program_test.go")
	if err != nil {
		t.Fatal(err)
	}
	compiled, _ := declarations(t, string(source))
	shown := 0
	for _, block := range codeBlocks(t) {
		whole := strings.HasPrefix(block, "package ")
		if !whole {
			block = "package p\n\n" + block
		}
		decls, file := declarations(t, block)
		for name, text := range decls {
			shown++
			if compiled[name] != text {
				t.Errorf("the package comment has\n%s\nand example_program_test.go\n%s", text, compiled[name])
			}
		}
		if got, want := imports(t, file), used(file); whole && !slices.Equal(got, want) {
			t.Errorf("the program of the package comment imports %q and uses %q", got, want)
		}
	}
	if shown != 4 {
		t.Errorf("the package comment shows %d declarations, want main and three more", shown)
	}
}

// codeBlocks returns the indented parts of the package comment.
func codeBlocks(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "client.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	block := ""
	for line := range strings.Lines(file.Doc.Text() + "end\n") {
		switch code, indented := strings.CutPrefix(line, "\t"); {
		case indented || block != "" && line == "\n":
			block += code
		case block != "":
			blocks, block = append(blocks, block), ""
		}
	}
	return blocks
}

// declarations returns the text of each declaration of a file by its name, and the file.
func declarations(t *testing.T, source string) (map[string]string, *ast.File) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, 0)
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	texts := map[string]string{}
	for _, d := range file.Decls {
		name := ""
		switch d := d.(type) {
		case *ast.FuncDecl:
			name = d.Name.Name
		case *ast.GenDecl:
			if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
				name = v.Names[0].Name
			}
		}
		if name != "" {
			texts[name] = source[files.Position(d.Pos()).Offset:files.Position(d.End()).Offset]
		}
	}
	return texts, file
}

func imports(t *testing.T, file *ast.File) []string {
	t.Helper()
	var names []string
	for _, i := range file.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, path.Base(name))
	}
	slices.Sort(names)
	return names
}

// used returns the packages that a file names. What it declares itself is resolved, and no package is.
func used(file *ast.File) []string {
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil {
				names = append(names, x.Name)
			}
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}
