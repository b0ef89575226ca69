package inbox

import (
	"fmt"
	"html/template"
	"time"

	"github.com/mash-hub/mash/pkg/hub"
)

// clock says times in words. It stands still at now, the hub's time when the page was asked for, in the zone of the
// server's clock.
type clock struct {
	now   time.Time
	words catalogue
}

const day = 24 * time.Hour

// ago says how long ago t was.
func (c clock) ago(t time.Time) template.HTML {
	d := c.now.Sub(t)
	switch {
	case d < 10*time.Second:
		return c.element("ago", t, c.words.plain("time.now"))
	case d < 7*day:
		return c.element("ago", t, c.words.plain("time.ago", c.span(d)))
	}
	return c.element("at", t, c.date(t))
}

// left says how long it is until t, never more than there is.
func (c clock) left(t time.Time) template.HTML { return c.element("left", t, c.span(t.Sub(c.now))) }

// at says when t is: the time of day, with the date unless that is today's.
func (c clock) at(t time.Time) template.HTML { return c.element("at", t, c.moment(t)) }

// moment is at without the element around it.
func (c clock) moment(t time.Time) string {
	here := t.In(c.now.Location())
	s := here.Format("15:04 MST")
	if d := c.date(t); d != c.date(c.now) {
		s = d + ", " + s
	}
	return s
}

// asOf says when now is, to the second.
func (c clock) asOf() template.HTML { return c.element("now", c.now, c.now.Format("15:04:05 MST")) }

func (c clock) date(t time.Time) string {
	here := t.In(c.now.Location())
	if here.Year() != c.now.Year() {
		return here.Format("2 Jan 2006")
	}
	return here.Format("2 Jan")
}

// time says the time of day of t.
func (c clock) time(t time.Time) template.HTML {
	return c.element("at", t, t.In(c.now.Location()).Format("15:04"))
}

// dayName says on which day t is.
func (c clock) dayName(t time.Time) template.HTML {
	switch c.date(t) {
	case c.date(c.now):
		return c.words.html("day.today")
	case c.date(c.now.AddDate(0, 0, -1)):
		return c.words.html("day.yesterday")
	}
	return template.HTML(template.HTMLEscapeString(t.In(c.now.Location()).Format("Monday, ") + c.date(t))) //nolint:gosec // escaped
}

// span says a length of time in its largest units, cut rather than rounded.
func (c clock) span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return c.words.plain("time.seconds", int(d.Seconds()))
	case d < time.Hour:
		return c.words.plain("time.minutes", int(d.Minutes()))
	case d < 3*time.Hour && d%time.Hour >= time.Minute:
		return c.words.plain("time.hours.minutes", int(d.Hours()), int((d % time.Hour).Minutes()))
	case d < 2*day:
		return c.words.plain("time.hours", int(d.Hours()))
	}
	return c.words.plain("time.days", int(d/day))
}

// times are the words of span and ago, for our script, which goes on where they stop.
func (c catalogue) times() string {
	var list []string
	for _, key := range []string{"seconds", "minutes", "hours", "hours.minutes", "days", "now", "ago"} {
		list = append(list, c.text("time."+key))
	}
	return string(hub.Encode(list))
}

// element marks words as the time t, for machines and for whoever points at it. Our script goes on counting where the kind
// is ago or left.
func (c clock) element(kind string, t time.Time, words string) template.HTML {
	here := t.In(c.now.Location())
	//nolint:gosec // both parts are our own formats and words, and escaped
	return template.HTML(fmt.Sprintf(`<time data-t="%s" datetime="%s" title="%s">%s</time>`,
		kind, here.Format(time.RFC3339), here.Format("2006-01-02 15:04:05 MST"), template.HTMLEscapeString(words)))
}
