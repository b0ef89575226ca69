package inbox

import (
	"html/template"
	"net/http"
)

// keysRoutes are the page of what keys do. Our script shows the same over any other page.
func keysRoutes() []route {
	return []route{{http.MethodGet, "/keys", (*visit).keys, false}}
}

// keyView is what some keys do.
type keyView struct {
	Does template.HTML
	Keys []string
}

func (v *visit) keys() error {
	view := []keyView{
		{v.words.html("keys.move"), []string{"j", "k"}},
		{v.words.html("keys.open"), []string{"o", "Enter"}},
		{v.words.html("keys.option"), []string{"1", "…", "9"}},
		{v.words.html("keys.other"), []string{"e"}},
		{v.words.html("keys.decline"), []string{"x"}},
		{v.words.html("keys.back"), []string{"u"}},
		{v.words.html("keys.help"), []string{"?"}},
	}
	v.render(http.StatusOK, "keys", v.page("keys", v.words.plain("keys.title"), view))
	return nil
}
