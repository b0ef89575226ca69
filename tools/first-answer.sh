#!/usr/bin/env bash
# tools/first-answer.sh: from a clean clone to the first answered ask, as a person gets there: it counts commands and clicks,
# and looks for files and accounts that had to be made by hand. At most two commands and one click, and the answer is
# signed and final.
. "$(dirname "$0")/parts.sh"

clone() { git clone --quiet --no-hardlinks . "$scratch/clone"; }

# first runs the commands of README in the clone. The one click is that of the test's answer; --answer stands for it.
first() {
	cd "$scratch/clone" || return 1
	local commands=0 clicks=0 said
	commands=$((commands + 1))
	said=$(ANSWER=approve make demo 2>&1) || { echo "$said" && return 1; }
	clicks=$((clicks + 1)) # ANSWER presses the button that a person would
	echo "$said" | tail -n 12
	grep -qi 'verif' <<<"$said" || { echo 'the answer was not verified' && return 1; }
	[ -z "$(git status --porcelain)" ] || { echo 'files had to be made' && return 1; }
	echo "commands: $commands, clicks: $clicks, files: 0, accounts: 0"
	[ "$commands" -le 2 ] && [ "$clicks" -le 1 ]
}

part 'a clean clone' clone
part 'the first answered ask' first

finish
