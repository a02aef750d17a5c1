#!/bin/bash
# curl.sh URL [curl option ...]: what curl sends is echoed, or refused as it should be.
set -euo pipefail
url=$1
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
head -c 1048576 /dev/urandom > "$dir/large"
printf 'hello' > "$dir/small"

fail() { echo "curl: $1" >&2; exit 1; }
ask() { curl --silent --show-error --max-time 20 "${options[@]}" "$@"; }
# echoes FILE [option ...]: the file comes back.
echoes() {
  local file=$1
  shift
  ask --data-binary "@$file" --output "$dir/back" "$@" "$url" || fail "no answer to $*"
  cmp "$file" "$dir/back" || fail "another body came back with $*"
}
# refuses STATUS [option ...]: the request gets that status.
refuses() {
  local want=$1 got
  shift
  got=$(ask --output /dev/null --write-out '%{http_code}' "$@") || fail "no answer to $*"
  [ "$got" = "$want" ] || fail "status $got instead of $want with $*"
}

options=("$@")
for file in "$dir/small" "$dir/large"; do
  echoes "$file"
  echoes "$file" --header 'Transfer-Encoding: chunked'
  # Without the 100 it would send nothing until the time is over.
  echoes "$file" --header 'Expect: 100-continue' --expect100-timeout 30
  echoes "$file" --header 'Expect: 100-continue' --header 'Transfer-Encoding: chunked' --expect100-timeout 30
  echoes "$file" --http1.0
done

# The second request of one call uses the connection of the first.
made=$(ask --data a --output "$dir/a" --write-out '%{num_connects} ' "$url" --next \
  --silent "${options[@]}" --data b --output "$dir/b" --write-out '%{num_connects}' "$url")
[ "$made" = '1 0' ] || fail "connections made for two requests: $made, instead of 1 0"
[ "$(cat "$dir/a" "$dir/b")" = ab ] || fail "two requests on one connection were not echoed"

refuses 405 --head "$url"
refuses 405 "$url"
refuses 404 --data a "${url%/echo}/other"
refuses 411 --request POST --header 'Content-Length:' "$url"
head -c 16777217 /dev/zero > "$dir/huge"
refuses 413 --data-binary "@$dir/huge" --header 'Expect:' "$url"
