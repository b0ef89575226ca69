#!/usr/bin/env bash
# make fuzz TIME=30s: every fuzz test in turn, for that long.
. "$(dirname "$0")/parts.sh"

while IFS=: read -r file line; do
	name=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/' <<<"$line")
	part "$(dirname "$file") $name" go test -run '^$' -fuzz "^$name\$" -fuzztime "${TIME:-30s}" "./$(dirname "$file")"
done < <(git grep --untracked -E '^func Fuzz' -- '*_test.go')

[ $((passed + failed)) -gt 0 ] || refuse 'no fuzz tests found'
finish
