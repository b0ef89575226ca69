#!/usr/bin/env bash
# make aws-versions BASE=commit: functions of another commit, the one before unless told otherwise, beside those of this tree
# on one table, as in the middle of a deployment. With each mixture of the two an ask goes from submit to verified answer, and
# directives to their acknowledgement.
. "$(dirname "$0")/parts.sh"

base=${BASE:-HEAD~1}
arch=$(go env GOARCH)
home=${AWS_HOME:-$PWD/.tools/aws}
git rev-parse --verify --quiet "$base^{commit}" >/dev/null || refuse "BASE=$base names no commit"

remove_base() { if [ -d "$scratch/base" ]; then git worktree remove --force "$scratch/base"; fi; }
on_exit=(remove_base "${on_exit[@]}")

# The caches of both trees are shared, so that only what differs is compiled.
build() {
	git worktree add --quiet --detach "$scratch/base" "$base" &&
		mkdir -p "$scratch/before" &&
		CGO_ENABLED=0 go -C "$scratch/base" build -tags lambda.norpc -trimpath -buildvcs=false -ldflags '-s -w -buildid=' \
			-o "$scratch/before/" ./functions/... &&
		go -C tools build -o "../$bin/" ./lambdazip ./awsversions &&
		go build -o "$bin/" ./localstack/smoke &&
		"$bin/lambdazip" -level 1 -max 10000000 "$scratch/before"
}

mixtures() {
	"$bin/awsversions" -stack "$home-stack.json" -before "$scratch/before" -now "bin/functions/$arch" \
		"$bin/smoke" "$home-stack.json"
}

part 'start the emulated AWS' emulator_up
if [ ! -s "$home-stack.json" ]; then part 'deploy' tools/aws-deploy.sh; fi
if [ "$failed" -eq 0 ]; then part "build the functions of $(git log -1 --format='%h, %s' "$base")" build; fi
if [ "$failed" -eq 0 ]; then part 'both versions on one table' mixtures; fi

finish
