package ma2h

import (
	"slices"
	"strconv"
	"strings"
)

// form is what a value must be, in a version.
type form interface {
	// check returns nil where v is right. Nothing is allocated then.
	check(v any, minor int) *fault
}

// fault is what is wrong with a value. It is built from the inside out: whoever found it knows what it wants, and each
// object around it adds its part of the path.
type fault struct {
	path  string // JSON Pointer, from the value that was checked on
	wants string // ends the sentence "Send NAME as …", until the name is known
	every bool   // wants is about all elements, not about the one of that name
	says  string // the whole sentence
}

// wrong is a fault whose sentence is complete.
func wrong(path, says string) *fault { return &fault{path: path, says: says} }

// under places the fault below the member of that name.
func (f *fault) under(name string) *fault {
	f.path = Pointer("", name) + f.path
	switch {
	case f.says != "":
	case f.every:
		f.says = "Send every element of " + name + " as " + f.wants + "."
	default:
		f.says = "Send " + name + " as " + f.wants + "."
	}
	return f
}

// inside places the fault below an element, whose own name is not worth saying.
func (f *fault) inside(token string) *fault {
	f.path = Pointer("", token) + f.path
	f.every = f.says == ""
	return f
}

func (f *fault) asError() *Error {
	if f == nil {
		return nil
	}
	if f.says == "" {
		f.says = "Send " + f.wants + "."
	}
	return &Error{Code: CodeValidationError, Field: f.path, Message: f.says}
}

// formFunc is a form that is a function.
type formFunc func(v any, minor int) *fault

func (f formFunc) check(v any, minor int) *fault { return f(v, minor) }

// leaf is the form of a value without parts.
type leaf struct {
	wants string
	ok    func(v any, minor int) bool
}

func (l *leaf) check(v any, minor int) *fault {
	if l.ok(v, minor) {
		return nil
	}
	return &fault{wants: l.wants}
}

// texts is a leaf that is a string.
func texts(wants string, ok func(s string) bool) *leaf {
	return &leaf{wants: wants, ok: func(v any, _ int) bool {
		s, is := v.(string)
		return is && ok(s)
	}}
}

// enum is the form of a string that is one of a few.
type enum []string

func (e enum) check(v any, _ int) *fault {
	if s, ok := v.(string); ok && slices.Contains(e, s) {
		return nil
	}
	if len(e) == 1 {
		return &fault{wants: e[0]}
	}
	return &fault{wants: "one of " + strings.Join(e[:len(e)-1], ", ") + " and " + e[len(e)-1]}
}

// list is the form of an array whose elements all have one form.
type list struct{ of form }

func (l *list) check(v any, minor int) *fault {
	a, ok := v.([]any)
	if !ok {
		return &fault{wants: "an array"}
	}
	for i, e := range a {
		if f := l.of.check(e, minor); f != nil {
			return f.inside(strconv.Itoa(i))
		}
	}
	return nil
}

// stringMap is the form of an object whose members are all strings.
func stringMap(v any, _ int) *fault {
	o, ok := v.(map[string]any)
	if !ok {
		return &fault{wants: "an object"}
	}
	for name, e := range o {
		if _, ok := e.(string); !ok {
			f := &fault{wants: "a string"}
			return f.inside(name)
		}
	}
	return nil
}

// member is one member of an object.
type member struct {
	name     string
	form     form
	required bool
	since    int // the first minor that has it; zero means all
	until    int // the last one; zero means all
}

// object is the form of an object: its members, and what they mean for each other. Members that it does not list are
// free, unless it is closed.
type object struct {
	members []member
	closed  bool
	also    func(o map[string]any, minor int) *fault // may be nil; runs when each member by itself is right
}

// absent stands for a member that is missing. No form takes it, so a missing member is asked for in the words that
// describe a wrong one.
type absent struct{}

func (d *object) check(v any, minor int) *fault {
	o, ok := v.(map[string]any)
	if !ok {
		return &fault{wants: "an object"}
	}
	for i := range d.members {
		if f := d.members[i].check(o, minor); f != nil {
			return f.under(d.members[i].name)
		}
	}
	if f := d.unlisted(o, minor); f != nil {
		return f
	}
	if d.also == nil {
		return nil
	}
	return d.also(o, minor)
}

func (m *member) in(minor int) bool { return m.since <= minor && (m.until == 0 || minor <= m.until) }

func (m *member) check(o map[string]any, minor int) *fault {
	if !m.in(minor) {
		return nil
	}
	v, has := o[m.name]
	switch {
	case has:
		return m.form.check(v, minor)
	case m.required:
		return m.form.check(absent{}, minor)
	}
	return nil
}

// unlisted finds a member that a closed object does not list.
func (d *object) unlisted(o map[string]any, minor int) *fault {
	if !d.closed {
		return nil
	}
	for name := range o {
		listed := func(m member) bool { return m.name == name && m.in(minor) }
		if !slices.ContainsFunc(d.members, listed) {
			return wrong(Pointer("", name), "Leave out the members that this document does not have; it is closed.")
		}
	}
	return nil
}

// want returns a fault if o lacks the member; wants ends the sentence "Send NAME as …".
func want(o map[string]any, name, wants string) *fault {
	if _, has := o[name]; has {
		return nil
	}
	f := &fault{wants: wants}
	return f.under(name)
}

// refuse returns a fault if o has the member.
func refuse(o map[string]any, name, says string) *fault {
	if _, has := o[name]; !has {
		return nil
	}
	return wrong(Pointer("", name), says)
}

// never is the form of a member that must not be there.
func never(says string) form {
	return formFunc(func(any, int) *fault { return wrong("", says) })
}

// first returns the first fault there is.
func first(faults ...*fault) *fault {
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}

// part returns the member as an object, or nil, whose members can be asked for all the same.
func part(o map[string]any, name string) map[string]any {
	p, _ := o[name].(map[string]any)
	return p
}

// is says whether the member is that string.
func is(o map[string]any, name, value string) bool {
	s, ok := o[name].(string)
	return ok && s == value
}

// isAny says whether the member is one of those strings.
func isAny(o map[string]any, name string, values ...string) bool {
	s, ok := o[name].(string)
	return ok && slices.Contains(values, s)
}
