#!/usr/bin/env bash
# tools/axe.sh prints the path of axe-core, which it fetches by npm into .tools/ the first time, checks against the digest
# below, and asks nobody for again.
. "$(dirname "$0")/parts.sh"

version=4.14.1
integrity=FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ== # SHA-512, as npm has it
folder=$PWD/.tools/axe-core-$version

fetch() {
	local new=$scratch/axe file got
	mkdir -p "$new"
	file=$(cd "$new" && npm pack --silent "axe-core@$version") || return 1
	got=$(node -e 'process.stdout.write(require("crypto").createHash("sha512").update(require("fs").readFileSync(process.argv[1])).digest("base64"))' \
		"$new/$file") || return 1
	[ "$got" = "$integrity" ] || { echo "axe-core $version is not what it was: $got" >&2 && return 1; }
	tar -xzf "$new/$file" -C "$new" package/axe.min.js package/LICENSE || return 1
	rm -rf "$folder" && mv "$new/package" "$folder"
}

if [ ! -s "$folder/axe.min.js" ]; then
	have npm || { echo 'axe-core comes by npm (Debian: nodejs npm)' >&2 && exit 1; }
	fetch
fi
echo "$folder/axe.min.js"
