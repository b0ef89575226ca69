package main

import (
	"slices"
	"strings"
)

// closest returns which of the words are most like what was typed, if any is like it at all, in their order.
func closest(typed string, words []string) []string {
	least := max(len([]rune(typed))/3, 1) // as far as a slip of the fingers goes, and a little further in a long word
	var found []string
	for _, w := range words {
		distance := edits(typed, w)
		if len([]rune(typed)) > 2 && strings.HasPrefix(w, typed) {
			distance = 1
		}
		if distance < least {
			found, least = nil, distance
		}
		if distance == least {
			found = append(found, w)
		}
	}
	return found
}

// edits counts the letters to add, to drop, to change, or to swap with their neighbour that make one word of the other.
func edits(from, to string) int {
	a, b := []rune(from), []rune(to)
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			same := last[j]
			if a[i] != b[j] {
				same++
			}
			row[j+1] = min(same, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// didYouMean is a question about what was typed, or nothing where no word is like it.
func didYouMean(typed string, words []string) string {
	found := closest(typed, words)
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return " Did you mean " + strings.Join(slices.Compact(found), " or ") + "?"
}
