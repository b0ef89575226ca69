package record

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// ValidateGet returns what is wrong with the arguments of a Get, or nil. Every store calls it, and the functions beside
// it, before anything else, so that all of them refuse the same calls with the same errors.
func ValidateGet(keys []Key) error {
	if len(keys) > MaxReads {
		return fmt.Errorf("%w: %d keys in one get", ErrTooLarge, len(keys))
	}
	for i, k := range keys {
		if err := validateKey(k); err != nil {
			return err
		}
		for _, other := range keys[:i] {
			if k == other {
				return fmt.Errorf("%w: %s twice in one get", ErrMisuse, k)
			}
		}
	}
	return nil
}

// ValidateList returns what is wrong with the arguments of a List, or nil.
func ValidateList(part, after string, limit int) error {
	if err := validateText("part", part, MaxPartBytes); err != nil {
		return err
	}
	if after != "" {
		if err := validateText("sort", after, MaxSortBytes); err != nil {
			return err
		}
	}
	return validateLimit(limit)
}

// ValidateIndex returns what is wrong with the arguments of an Index, or nil.
func ValidateIndex(place int, name string, after Entry, limit int) error {
	if place != 1 && place != 2 {
		return fmt.Errorf("%w: no place %d in an index", ErrMisuse, place)
	}
	if err := validateTag(Tag{Name: name, Order: after.Order}); err != nil {
		return err
	}
	if after != (Entry{}) {
		if err := validateKey(after.Key); err != nil {
			return err
		}
	}
	return validateLimit(limit)
}

// ValidateDue returns what is wrong with the arguments of a Due, or nil.
func ValidateDue(before time.Time, after Entry, limit int) error {
	if before.IsZero() {
		return fmt.Errorf("%w: due before no time", ErrMisuse)
	}
	if after != (Entry{}) {
		if _, err := DueTime(after.Order); err != nil {
			return fmt.Errorf("%w: due after %q", ErrMisuse, after.Order)
		}
		if err := validateKey(after.Key); err != nil {
			return err
		}
	}
	return validateLimit(limit)
}

// ValidateCommit returns what is wrong with the writes of a Commit, or nil.
func ValidateCommit(writes []Write) error {
	if len(writes) > MaxWrites {
		return fmt.Errorf("%w: %d writes in one commit", ErrTooLarge, len(writes))
	}
	size := 0
	for i, w := range writes {
		if err := validateWrite(w); err != nil {
			return err
		}
		for _, other := range writes[:i] {
			if w.Record.Key == other.Record.Key {
				return fmt.Errorf("%w: %s twice in one commit", ErrMisuse, w.Record.Key)
			}
		}
		size += w.Record.Size()
	}
	if size > MaxCommitBytes {
		return fmt.Errorf("%w: %d bytes in one commit", ErrTooLarge, size)
	}
	return nil
}

func validateWrite(w Write) error {
	k := w.Record.Key
	if err := validateKey(k); err != nil {
		return err
	}
	switch w.Op {
	case OpPut:
		if w.Record.Rev == "" || w.Record.Rev == w.Was {
			return fmt.Errorf("%w: put %s without a rev of its own", ErrMisuse, k)
		}
		return validateRecord(w.Record)
	case OpErase:
		if w.Was == "" {
			return fmt.Errorf("%w: erase %s, which is said to be absent", ErrMisuse, k)
		}
	case OpCheck:
	default:
		return fmt.Errorf("%w: operation %d on %s", ErrMisuse, w.Op, k)
	}
	return nil
}

func validateRecord(r Record) error {
	if r.Kind == "" {
		return fmt.Errorf("%w: put %s without a kind", ErrMisuse, r.Key)
	}
	if size := r.Size(); size > MaxRecordBytes {
		return fmt.Errorf("%w: record %s of %d bytes", ErrTooLarge, r.Key, size)
	}
	for _, t := range r.Tags {
		if t == (Tag{}) {
			continue
		}
		if err := validateTag(t); err != nil {
			return err
		}
		if n := len(t.Order) + len(r.Part) + len(r.Sort); n > MaxPlaceBytes {
			return fmt.Errorf("%w: a place in the index %q of %d bytes for %s", ErrTooLarge, t.Name, n, r.Key)
		}
	}
	for _, t := range []time.Time{r.Due, r.Erase} {
		if !t.IsZero() && t.Unix() < 0 {
			return fmt.Errorf("%w: %s is due or garbage before 1970", ErrMisuse, r.Key)
		}
	}
	return nil
}

func validateKey(k Key) error {
	if err := validateText("part", k.Part, MaxPartBytes); err != nil {
		return err
	}
	return validateText("sort", k.Sort, MaxSortBytes)
}

func validateTag(t Tag) error {
	if err := validateText("tag name", t.Name, MaxPartBytes); err != nil {
		return err
	}
	if t.Order == "" {
		return nil
	}
	return validateText("tag order", t.Order, MaxSortBytes)
}

// validateText refuses NUL because a store may join such strings with it where they must keep their order.
func validateText(what, s string, most int) error {
	switch {
	case s == "":
		return fmt.Errorf("%w: an empty %s", ErrMisuse, what)
	case len(s) > most:
		return fmt.Errorf("%w: a %s of %d bytes", ErrTooLarge, what, len(s))
	case !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0:
		return fmt.Errorf("%w: the %s %q is not UTF-8 without NUL", ErrMisuse, what, s)
	}
	return nil
}

func validateLimit(limit int) error {
	if limit < 1 {
		return fmt.Errorf("%w: a limit of %d", ErrMisuse, limit)
	}
	if limit > MaxListLimit {
		return fmt.Errorf("%w: a limit of %d", ErrTooLarge, limit)
	}
	return nil
}
