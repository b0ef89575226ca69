package inbox

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
)

// catalogue holds the sentences of one language under short keys; %s and %d stand for what differs.
type catalogue map[string]string

//go:embed english.txt
var englishText string

// english returns every sentence of the pages.
func english() catalogue {
	c, err := parseCatalogue(englishText)
	if err != nil {
		panic(err) // the file is embedded, and the tests read it
	}
	return c
}

// parseCatalogue reads lines of the form key = sentence. Empty ones, and those that begin with #, are for the reader.
func parseCatalogue(text string) (catalogue, error) {
	c := catalogue{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		key, sentence, ok := strings.Cut(line, " = ")
		if _, twice := c[key]; !ok || twice || strings.ContainsAny(key, " =") {
			return nil, fmt.Errorf("catalogue: line %d has no sentence under a new key: %s", n, line)
		}
		c[key] = sentence
	}
	return c, nil
}

// html returns a sentence as HTML: everything in it escaped, and what somebody else wrote isolated, so that it cannot
// turn the sentence around. Parts that are HTML already, such as a time of the clock's, stay.
func (c catalogue) html(key string, parts ...any) template.HTML {
	safe := make([]any, len(parts))
	for i, p := range parts {
		switch v := p.(type) {
		case theirs:
			safe[i] = "<bdi>" + template.HTMLEscapeString(string(v)) + "</bdi>"
		case string:
			safe[i] = template.HTMLEscapeString(v)
		default:
			safe[i] = v
		}
	}
	//nolint:gosec // everything that is not our own HTML was escaped above
	return template.HTML(fmt.Sprintf(template.HTMLEscapeString(c.text(key)), safe...))
}

// plain returns a sentence as text, for places that hold no elements, such as the title of the tab.
func (c catalogue) plain(key string, parts ...any) string { return fmt.Sprintf(c.text(key), parts...) }

// counted returns the sentence for n things: that of key.one for a single one.
func (c catalogue) counted(key string, n int) template.HTML {
	if n == 1 {
		return c.html(key + ".one")
	}
	return c.html(key, n)
}

// bound returns the sentence for n things where limit is the most or the least: that of key.one for a limit of one.
func (c catalogue) bound(key string, limit, n int) template.HTML {
	if limit == 1 {
		return c.html(key+".one", n)
	}
	return c.html(key, limit, n)
}

// text returns what stands under key, which the tests hold to be something.
func (c catalogue) text(key string) string {
	if s, ok := c[key]; ok {
		return s
	}
	return key
}

// list puts parts one behind the other.
func (c catalogue) list(parts []template.HTML) template.HTML {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = string(p)
	}
	return template.HTML(strings.Join(texts, " · ")) //nolint:gosec // HTML joined by a dot
}

// join lists parts in a sentence: a, b or c.
func (c catalogue) join(parts []template.HTML) template.HTML {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = string(p)
	}
	if len(texts) > 1 {
		last := len(texts) - 1
		texts = []string{strings.Join(texts[:last], ", "), texts[last]}
	}
	return template.HTML(strings.Join(texts, " "+string(c.html("or"))+" ")) //nolint:gosec // HTML joined by HTML
}
