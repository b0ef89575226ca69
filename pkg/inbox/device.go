package inbox

import "strings"

// summarise says in a few words which browser a User-Agent is of, such as "Firefox on Linux", or nothing of one that is
// not known. It is for a person to know their own browsers apart by, and decides nothing.
func summarise(agent string) string {
	name := firstOf(agent, [][2]string{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Vivaldi/", "Vivaldi"},
		{"FxiOS/", "Firefox"}, {"Firefox/", "Firefox"}, {"CriOS/", "Chrome"}, {"HeadlessChrome/", "Chrome"},
		{"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"},
	})
	system := firstOf(agent, [][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"},
		{"Macintosh", "Mac"}, {"Mac OS X", "Mac"}, {"Linux", "Linux"},
	})
	if name != "" && system != "" {
		return name + " on " + system
	}
	return name + system
}

// firstOf returns the name of the first mark that stands in a text.
func firstOf(text string, marks [][2]string) string {
	for _, m := range marks {
		if strings.Contains(text, m[0]) {
			return m[1]
		}
	}
	return ""
}
