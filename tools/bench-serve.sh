#!/usr/bin/env bash
# make bench-serve BASE=commit: how long mash serve takes to start and how much memory it holds when idle, this tree against
# another commit, in pairs.
. "$(dirname "$0")/parts.sh"

base=${BASE:-HEAD~1}
git rev-parse --verify --quiet "$base^{commit}" >/dev/null || refuse "BASE=$base names no commit"

remove_base() { if [ -d "$scratch/base" ]; then git worktree remove --force "$scratch/base"; fi; }
on_exit=(remove_base "${on_exit[@]}")

build() {
	git worktree add --quiet --detach "$scratch/base" "$base" &&
		go -C "$scratch/base" build -o "$scratch/before" ./cmd/mash &&
		go build -o "$scratch/now" ./cmd/mash &&
		go -C tools build -o "../$bin/" ./servecost
}

part "build this tree and $base" build
part 'start and idle memory' "$bin/servecost" -rounds "${ROUNDS:-30}" "$scratch/before" "$scratch/now"

finish
