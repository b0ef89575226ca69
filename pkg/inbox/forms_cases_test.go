package inbox_test

import (
	"fmt"
	"slices"
	"strings"
)

func formCases() []formCase {
	return slices.Concat(scalarCases(), choiceCases(), listCases(), objectCases(), oddCases())
}

func of(property string) string {
	return `{"type":"object","properties":{"a":` + property + `},"required":["a"]}`
}

func scalarCases() []formCase {
	none := [4]string{}
	return []formCase{
		{"string", of(`{"type":"string"}`), [4]string{"a", "", "This is needed."},
			[][2]string{{"a", "  two\nlines \"q\" \\ \u20ac \U0001f600 "}}, `{"a":"  two\nlines \"q\" \\ € 😀 "}`},
		{"minLength and maxLength", of(`{"type":"string","minLength":2,"maxLength":3}`),
			[4]string{"a", "\U0001f600", "At least 2 characters are needed, and this has 1."}, [][2]string{{"a", "äöü"}}, `{"a":"äöü"}`},
		{"pattern", of(`{"type":"string","pattern":"^[A-Z]{2}[0-9]+$"}`),
			[4]string{"a", "de1", "It does not have the form that is asked for"}, [][2]string{{"a", "DE1"}}, `{"a":"DE1"}`},
		{"integer beyond a double", of(`{"type":"integer"}`), [4]string{"a", "1.5", "Write a whole number."},
			[][2]string{{"a", "9007199254740993"}}, `{"a":9007199254740993}`},
		{"integer with a point", of(`{"type":"integer"}`), none, [][2]string{{"a", "5.0"}}, `{"a":5.0}`},
		{"number of many digits", of(`{"type":"number"}`), [4]string{"a", "1e400", "The number is too large."},
			[][2]string{{"a", "-0.1000000000000000000000000000000001"}}, `{"a":-0.1000000000000000000000000000000001}`},
		{"bounds near the largest double", of(`{"type":"number","minimum":1e307,"maximum":1.7e308}`),
			[4]string{"a", "1.75e308", "It can be at most 1.7e308."}, [][2]string{{"a", "1.7e308"}}, `{"a":1.7e308}`},
		{"minimum", of(`{"type":"integer","minimum":9007199254740993}`),
			[4]string{"a", "9007199254740992", "It has to be at least 9007199254740993."},
			[][2]string{{"a", "9007199254740993"}}, `{"a":9007199254740993}`},
		{"exclusive bounds", of(`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`),
			[4]string{"a", "1", "It has to be less than 1."}, [][2]string{{"a", "0.999"}}, `{"a":0.999}`},
		{"multipleOf", of(`{"type":"number","multipleOf":0.01}`), [4]string{"a", "1.005", "It has to be a multiple of 0.01."},
			[][2]string{{"a", "19.99"}}, `{"a":19.99}`},
		{"boolean", of(`{"type":"boolean"}`), none, [][2]string{{"a", "No"}}, `{"a":false}`},
		{"date", of(`{"type":"string","format":"date"}`), [4]string{"a", "2026-02-30", "Write a date"},
			[][2]string{{"a", "2026-02-28"}}, `{"a":"2026-02-28"}`},
		{"time", of(`{"type":"string","format":"time"}`), [4]string{"a", "25:00", "Write a time of day"},
			[][2]string{{"a", "14:05"}}, `{"a":"14:05:00Z"}`},
		{"date-time", of(`{"type":"string","format":"date-time"}`), [4]string{"a", "noon", "Write a date and a time"},
			[][2]string{{"a", "2026-03-04T15:04:05.25"}}, `{"a":"2026-03-04T15:04:05.25Z"}`},
		{"email", of(`{"type":"string","format":"email"}`), [4]string{"a", "alice", "Write an e-mail address"},
			[][2]string{{"a", "alice@example.org"}}, `{"a":"alice@example.org"}`},
		{"uri", of(`{"type":"string","format":"uri"}`), [4]string{"a", "example.org", "Write an address"},
			[][2]string{{"a", "https://example.org/a?b=c#d"}}, `{"a":"https://example.org/a?b=c#d"}`},
		{"nullable string", of(`{"type":["string","null"]}`), none, [][2]string{{"a", ""}}, `{"a":null}`},
		{"nullable integer", of(`{"anyOf":[{"type":"integer","minimum":3},{"type":"null"}],"title":"N"}`),
			[4]string{"N", "2", "It has to be at least 3."}, [][2]string{{"N", ""}}, `{"a":null}`},
		{"nothing at all", `{"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":"boolean"}}}`,
			[4]string{"b", "x", "Write a number"}, [][2]string{{"b", ""}}, `{}`},
	}
}

func choiceCases() []formCase {
	none := [4]string{}
	countries := `{"oneOf":[{"const":"de","title":"Germany"},{"const":"uk","title":"Britain"},{"const":null,"title":"Neither"}]}`
	return []formCase{
		{"enum of texts", of(`{"enum":["red","green"]}`), none, [][2]string{{"a", "green"}}, `{"a":"green"}`},
		{"enum of mixed types", of(`{"enum":["1",1,true,1.50,null,{"b":[1]},""]}`), none, [][2]string{{"a", "1.50"}}, `{"a":1.50}`},
		{"enum tells 1 from its text", of(`{"enum":["1",1]}`), none, [][2]string{{"a", `"1"`}}, `{"a":"1"}`},
		{"enum with null", of(`{"enum":["x",null]}`), none, [][2]string{{"a", "Nothing (null)"}}, `{"a":null}`},
		{"enum of an empty text", of(`{"enum":["","x"]}`), none, [][2]string{{"a", `""`}}, `{"a":""}`},
		{"long enum", of(`{"enum":["a","b","c","d","e","f","g",9007199254740993]}`), none,
			[][2]string{{"a", "9007199254740993"}}, `{"a":9007199254740993}`},
		{"const", `{"properties":{"a":{"const":{"k":1.0}},"b":{"const":"x"}},"required":["a"]}`, none, nil, `{"a":{"k":1.0}}`},
		{"titled constants", of(countries), none, [][2]string{{"a", "Britain"}}, `{"a":"uk"}`},
		{"titled constants with null", of(countries), none, [][2]string{{"a", "Neither"}}, `{"a":null}`},
		{"anyOf constants of many types", of(`{"anyOf":[{"const":1,"title":"One"},{"enum":["two"],"title":"Two"},{"const":false}]}`), none,
			[][2]string{{"a", "false"}}, `{"a":false}`},
		{"nullable boolean", of(`{"type":["boolean","null"]}`), none, [][2]string{{"a", "Nothing (null)"}}, `{"a":null}`},
		{"nullable enum", `{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/c"},{"type":"null"}]}},"required":["a"],"$defs":{"c":{"enum":["x","y"]}}}`,
			none, [][2]string{{"a", "y"}}, `{"a":"y"}`},
	}
}

func listCases() []formCase {
	none := [4]string{}
	person := `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},"required":["name"]}`
	return []formCase{
		{"array of texts", of(`{"type":"array","items":{"type":"string","maxLength":3},"title":"Tags"}`),
			[4]string{"Tags/2", "long", "At most 3 characters"}, [][2]string{{"Tags/1", "one"}, {"Tags/2", "two"}}, `{"a":["one","two"]}`},
		{"array with holes", of(`{"type":"array","items":{"type":"integer"},"default":[1,2,3]}`),
			[4]string{"a/3", "x", "Write a number"}, [][2]string{{"a/2", ""}, {"a/3", "4"}}, `{"a":[1,4]}`},
		{"array with minItems and maxItems", of(`{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":3}`),
			[4]string{"a/2", "", "At least 2 are needed, and this has 1.", "a"}, [][2]string{{"a/1", "1.50"}, {"a/2", "2"}}, `{"a":[1.50,2]}`},
		{"array of different things", of(`{"type":"array","items":{"type":"string"},"uniqueItems":true}`),
			[4]string{"a/2", "x", "Two of these are the same", "a"}, [][2]string{{"a/1", "x"}, {"a/2", "y"}}, `{"a":["x","y"]}`},
		{"array of choices to tick", of(`{"type":"array","items":{"enum":["x","y",3]},"maxItems":2}`),
			[4]string{"a", "x|y|3", "At most 2 are taken, and this has 3."}, [][2]string{{"a", "x|3"}}, `{"a":["x",3]}`},
		{"array of booleans", of(`{"type":"array","items":{"type":"boolean"}}`), none, [][2]string{{"a/1", "No"}, {"a/2", "Yes"}}, `{"a":[false,true]}`},
		{"array of dates", of(`{"type":"array","items":{"type":"string","format":"date"}}`),
			[4]string{"a/1", "soon", "Write a date"}, [][2]string{{"a/1", "2026-01-31"}}, `{"a":["2026-01-31"]}`},
		{"array that is empty", of(`{"type":"array","items":{"type":"string"}}`), none, nil, `{"a":[]}`},
		{"array of objects", of(`{"type":"array","items":` + person + `,"title":"People"}`),
			[4]string{"People/1/age", "-1", "It has to be at least 0."},
			[][2]string{{"People/1/name", "Ann"}, {"People/1/age", "41"}}, `{"a":[{"name":"Ann","age":41}]}`},
		{"array of objects with defaults", of(`{"type":"array","items":` + person + `,"default":[{"name":"Ann"},{"name":"Bo","age":7}]}`),
			[4]string{"a/2/name", "", "This is needed."}, [][2]string{{"a/2/name", "Bob"}}, `{"a":[{"name":"Ann"},{"name":"Bob","age":7}]}`},
	}
}

func objectCases() []formCase {
	none := [4]string{}
	address := `{"type":"object","title":"Address","properties":{"street":{"type":"string"},"zip":{"type":"string","pattern":"^[0-9]{5}$"}},"required":["street","zip"]}`
	return []formCase{
		{"nested object", of(address), [4]string{"Address/zip", "1", "It does not have the form"},
			[][2]string{{"Address/street", "Main St"}, {"Address/zip", "12345"}}, `{"a":{"street":"Main St","zip":"12345"}}`},
		{"nested object left out", `{"properties":{"a":` + address + `,"b":{"type":"integer"}}}`, none,
			[][2]string{{"b", "1"}}, `{"b":1}`},
		{"required within what is optional", `{"properties":{"a":` + address + `}}`, [4]string{"Address/street", "", "This is needed."},
			[][2]string{{"Address/street", "x"}, {"Address/zip", "12345"}}, `{"a":{"street":"x","zip":"12345"}}`},
		{"empty object on purpose", `{"properties":{"a":{"type":"object","properties":{"x":{"type":"string"}}}}}`, none,
			[][2]string{{"a", presentLabel}}, `{"a":{}}`},
		{"nullable object", of(`{"anyOf":[` + address + `,{"type":"null"}]}`), none, nil, `{"a":null}`},
		{"eight objects deep", of(nest(8, `{"type":"integer","maximum":9,"title":"Leaf"}`)),
			[4]string{"a/l1/l2/l3/l4/l5/l6/l7/Leaf", "10", "It can be at most 9."}, [][2]string{{"a/l1/l2/l3/l4/l5/l6/l7/Leaf", "9"}},
			`{"a":` + wrapped(8, "9") + `}`},
		{"as deep as a message may be", of(nest(25, `{"type":"string"}`)), none,
			[][2]string{{"a/" + path(25) + "leaf", "down"}}, `{"a":` + wrapped(25, `"down"`) + `}`},
		{"defaults at every level", `{"properties":{"o":{"type":"object","properties":{"p":{"type":"string","default":"inner"},` +
			`"q":{"type":"object","properties":{"r":{"type":"number","default":2.50}},"required":["r"]}},"required":["p","q"]}},"required":["o"]}`,
			none, nil, `{"o":{"p":"inner","q":{"r":2.50}}}`},
		{"the outer default wins", of(`{"type":"object","default":{"x":1e2},"properties":{"x":{"type":"number","default":5},"y":{"type":"number","default":6}}}`),
			none, nil, `{"a":{"x":1e2}}`},
		{"reference in a reference", `{"properties":{"a":{"$ref":"#/$defs/one","title":"Mine"}},"required":["a"],"$defs":{` +
			`"one":{"type":"object","properties":{"b":{"$ref":"#/$defs/t~1w~0o"}},"required":["b"]},"t/w~o":{"type":"integer","minimum":1}}}`,
			[4]string{"Mine/b", "0", "It has to be at least 1."}, [][2]string{{"Mine/b", "1"}}, `{"a":{"b":1}}`},
		{"allOf adds up", of(`{"allOf":[{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]},{"properties":{"y":{"type":"integer"}},"required":["y"]}]}`),
			[4]string{"a/y", "", "This is needed."}, [][2]string{{"a/x", "1"}, {"a/y", "2"}}, `{"a":{"x":"1","y":2}}`},
		{"object whose members depend", of(`{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"string"}},"dependentRequired":{"x":["y"]}}`),
			[4]string{"a/y", "", "This is not what the agent can take", "a"}, [][2]string{{"a/x", "1"}, {"a/y", "2"}}, `{"a":{"x":"1","y":"2"}}`},
		{"list in an object in a list", of(`{"type":"array","items":{"type":"object","properties":{"n":{"type":"array","items":{"type":"integer"}}}}}`),
			[4]string{"a/1/n/2", "x", "Write a number"}, [][2]string{{"a/1/n/1", "1"}, {"a/1/n/2", "2"}}, `{"a":[{"n":[1,2]}]}`},
	}
}

func path(n int) string {
	var b strings.Builder
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "l%d/", i)
	}
	return b.String()
}

func wrapped(n int, leaf string) string {
	s := `{"leaf":` + leaf + `}`
	for i := n - 1; i > 0; i-- {
		s = fmt.Sprintf(`{"l%d":%s}`, i, s)
	}
	return s
}

const presentLabel = "Send this part even when it is empty"

func oddCases() []formCase {
	none := [4]string{}
	var many, want []string
	for i := range 300 {
		many = append(many, fmt.Sprintf(`"p%d":{"type":"integer"}`, i))
		want = append(want, fmt.Sprintf(`"p%d":7`, i))
	}
	return []formCase{
		{"secret", of(`{"type":"string","x-ma2h-sensitive":true,"minLength":4}`),
			[4]string{"a", "abc", "At least 4 characters"}, [][2]string{{"a", "hush"}}, `{"a":"hush"}`},
		{"secret object", of(`{"type":"object","x-ma2h-sensitive":true,"properties":{"n":{"type":"integer","maximum":99},"s":{"type":"string"}}}`),
			[4]string{"a/n", "100", "It can be at most 99."}, [][2]string{{"a/n", "98"}, {"a/s", "hush"}}, `{"a":{"n":98,"s":"hush"}}`},
		{"anything", of(`{}`), [4]string{"a", "{", "Write it as JSON"}, [][2]string{{"a", `{"x":[9007199254740993,1.0]}`}},
			`{"a":{"x":[9007199254740993,1.0]}}`},
		{"true is a schema", of(`true`), [4]string{"a", "no", "Write it as JSON"}, [][2]string{{"a", `"x"`}}, `{"a":"x"}`},
		{"combinators", of(`{"oneOf":[{"type":"integer"},{"type":"object","properties":{"k":{"type":"string"}},"required":["k"]}]}`),
			[4]string{"a", `"x"`, "This is not what the agent can take"}, [][2]string{{"a", `{"k":"v"}`}}, `{"a":{"k":"v"}}`},
		{"pattern properties", of(`{"type":"object","patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false}`),
			[4]string{"a", `{"y":1}`, "This is not what the agent can take"}, [][2]string{{"a", `{"x":1}`}}, `{"a":{"x":1}}`},
		{"array of arrays", of(`{"type":"array","items":{"type":"array","items":{"type":"integer"}}}`),
			[4]string{"a", `[["x"]]`, "This is not what the agent can take"}, [][2]string{{"a", `[[1],[2,3]]`}}, `{"a":[[1],[2,3]]}`},
		{"required and not described", `{"properties":{"a":{"type":"string"}},"required":["z"]}`,
			[4]string{"z", "", "This is needed."}, [][2]string{{"z", "0"}}, `{"z":0}`},
		{"hostile names", `{"properties":{"a/b~c":{"type":"string","maxLength":1},"__proto__":{"type":"string"},"":{"type":"string","title":"Empty"},` +
			`"\u202e\"<b>":{"type":"object","title":"Odd","properties":{"x~1/y":{"type":"integer","not":{"const":1}}}},"constructor":{"type":"string"}}}`,
			[4]string{"Odd/x~1/y", "1", "This is not what"}, [][2]string{{"a/b~c", "1"}, {"__proto__", "2"}, {"Empty", "3"}, {"Odd/x~1/y", "4"}, {"constructor", "5"}},
			`{"a/b~c":"1","__proto__":"2","":"3","` + "\u202e" + `\"<b>":{"x~1/y":4},"constructor":"5"}`},
		{"hostile titles", `{"properties":{"a":{"type":"string","title":"<script>alert(1)</script>"},"b":{"type":"string","title":"` + strings.Repeat("x", 10_240) + `"},` +
			`"c":{"type":"string","title":"\u202edlrow\n\n\u2066x"},"d":{"type":"integer","title":"\ud83d\ude80 Rocket","description":"` + strings.Repeat(`<b>\n`, 2000) + `"},` +
			`"e":{"type":"object","title":"","description":"</fieldset></form>","properties":{"f":{"enum":["</select><img src=x onerror=y>","ok"],"title":"  "}}}}}`,
			[4]string{"🚀 Rocket", "x", "Write a number"},
			[][2]string{{"<script>alert(1)</script>", "1"}, {strings.Repeat("x", 199) + "…", "2"}, {"🚀 Rocket", "3"}, {"e/f", "</select><img src=x onerror=y>"}},
			`{"a":"1","b":"2","d":3,"e":{"f":"</select><img src=x onerror=y>"}}`},
		{"three hundred properties", `{"properties":{` + strings.Join(many, ",") + `}}`, none, sevens(300), `{` + strings.Join(want, ",") + `}`},
	}
}

func sevens(n int) [][2]string {
	var out [][2]string
	for i := range n {
		out = append(out, [2]string{fmt.Sprintf("p%d", i), "7"})
	}
	return out
}
