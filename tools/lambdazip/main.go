// Command lambdazip packs programs for Lambda: each file of a folder becomes a zip beside it with the program in it as
// bootstrap. The same program makes the same zip, so that a deployment changes nothing that has not changed. It prints
// the sizes, and fails on one that is too large.
//
// With -cache it keeps every zip that it makes under what it is made of, and packs nothing twice; of those it did not need
// it forgets all.
//
//	lambdazip -max 6000000 -level 9 -cache DIR FOLDER
package main

import (
	"archive/zip"
	"compress/flate"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// made is when everything in a zip was made: the first moment that the format knows.
var made = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

func main() {
	log.SetFlags(0)
	limit := flag.Int64("max", 6_000_000, "most bytes of one zip")
	level := flag.Int("level", flate.BestCompression, "how hard to press, from 1 to 9")
	cache := flag.String("cache", "", "the `folder` of zips that were made before")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("usage: lambdazip [-max BYTES] [-level N] [-cache DIR] FOLDER")
	}
	if err := run(flag.Arg(0), *limit, packer{level: *level, cache: *cache}); err != nil {
		log.Fatal(err)
	}
}

// packed is a program and its zip.
type packed struct {
	name        string
	whole, size int64 // bytes of the program and of the zip
	kept        string
	err         error
}

func run(folder string, limit int64, with packer) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var all []*packed
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == "" {
			all = append(all, &packed{name: e.Name()})
		}
	}
	with.all(folder, all)
	large := 0
	fmt.Printf("%-16s %11s %11s\n", "function", "program", "zip")
	for _, p := range all {
		if p.err != nil {
			return fmt.Errorf("pack %s: %w", p.name, p.err)
		}
		note := ""
		if p.size > limit {
			large++
			note = fmt.Sprintf("  more than %d", limit)
		}
		fmt.Printf("%-16s %11d %11d%s\n", p.name, p.whole, p.size, note)
	}
	if large > 0 || len(all) == 0 {
		return fmt.Errorf("%d functions, of which %d are too large", len(all), large)
	}
	return with.forget(all)
}

// packer is how to pack.
type packer struct {
	level int
	cache string // folder of zips made before; "" for none
}

// all packs as many at once as there are processors.
func (p packer) all(folder string, all []*packed) {
	var packing sync.WaitGroup
	places := make(chan struct{}, runtime.NumCPU())
	for _, f := range all {
		places <- struct{}{}
		packing.Go(func() {
			defer func() { <-places }()
			program := filepath.Join(folder, f.name)
			f.whole, f.size, f.err = p.one(program, program+".zip", &f.kept)
		})
	}
	packing.Wait()
}

// one packs a program, or takes the zip that was made of the same program before; kept is where that lies.
func (p packer) one(program, to string, kept *string) (whole, size int64, err error) {
	if p.cache == "" {
		return pack(program, to, p.level)
	}
	name, whole, err := p.name(program)
	if err != nil {
		return 0, 0, err
	}
	*kept = filepath.Join(p.cache, name)
	if _, err := os.Stat(*kept); err != nil {
		half := *kept + ".half"
		if _, _, err := pack(program, half, p.level); err != nil {
			return 0, 0, err
		}
		if err := os.Rename(half, *kept); err != nil {
			return 0, 0, err
		}
	}
	_ = os.Remove(to) // one that is there already
	if err := os.Link(*kept, to); err != nil {
		return 0, 0, err
	}
	info, err := os.Stat(to)
	if err != nil {
		return 0, 0, err
	}
	return whole, info.Size(), nil
}

// name is that of a program's zip in the cache, and how many bytes the program has.
func (p packer) name(program string) (string, int64, error) {
	in, err := os.Open(program) //nolint:gosec // a file of the folder that the caller named
	if err != nil {
		return "", 0, err
	}
	defer in.Close() //nolint:errcheck // only read
	sum := sha256.New()
	fmt.Fprintf(sum, "%d ", p.level)
	whole, err := io.Copy(sum, in)
	return fmt.Sprintf("%x.zip", sum.Sum(nil)[:16]), whole, err
}

// forget removes from the cache what none of all needed.
func (p packer) forget(all []*packed) error {
	if p.cache == "" {
		return nil
	}
	entries, err := os.ReadDir(p.cache)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file := filepath.Join(p.cache, e.Name())
		if !slices.ContainsFunc(all, func(f *packed) bool { return f.kept == file }) {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// pack writes the zip of a program and returns the bytes of both.
func pack(program, to string, level int) (whole, size int64, err error) {
	in, err := os.Open(program) //nolint:gosec // a file of the folder that the caller named
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()          //nolint:errcheck // only read
	out, err := os.Create(to) //nolint:gosec // beside the program
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = closed
		}
	}()
	if whole, err = deflate(out, in, level); err != nil {
		return 0, 0, err
	}
	size, err = out.Seek(0, io.SeekCurrent)
	return whole, size, err
}

func deflate(out io.Writer, in io.Reader, level int) (int64, error) {
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, level)
	})
	header := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate, Modified: made}
	header.SetMode(0o755)
	w, err := z.CreateHeader(header)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, in)
	if err != nil {
		return 0, err
	}
	return n, z.Close()
}
