#!/bin/bash
# h2load.sh URL [requests]: every request over HTTP/1.1 succeeds.
set -euo pipefail
n=${2:-100000}
body=$(mktemp)
trap 'rm -f "$body"' EXIT
head -c 1024 /dev/urandom > "$body"
out=$(h2load --h1 --requests "$n" --clients 4 --data "$body" "$1")
echo "$out"
grep -q "^requests: .* $n succeeded, 0 failed, 0 errored, 0 timeout" <<< "$out"
grep -q "^status codes: $n 2xx" <<< "$out"
