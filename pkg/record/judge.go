package record

// Judge returns what a Commit comes to of which at least one condition did not hold, given the records that stand there
// now under the keys of those writes (with an empty Rev where there is none): nil when they show that an earlier try of
// the same Commit was applied, or else the Conflict. Stores share it, so that all of them recognise their own wins alike.
func Judge(writes []Write, there []Record) error {
	found := make(map[Key]Record, len(there))
	for _, r := range there {
		found[r.Key] = r
	}
	var lost []Record
	for _, w := range writes {
		r, ok := found[w.Record.Key]
		if !ok || r.Rev == w.Was {
			continue
		}
		if w.Op == OpPut && r.Rev == w.Record.Rev {
			return nil
		}
		lost = append(lost, r)
	}
	if len(lost) == 1 && len(writes) == 1 && writes[0].Op == OpErase && lost[0].Rev == "" {
		return nil
	}
	return &Conflict{Lost: lost}
}
