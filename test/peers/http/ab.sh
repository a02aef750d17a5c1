#!/bin/bash
# ab.sh URL [requests]: every request over HTTP/1.0 is answered, on connections kept alive.
set -euo pipefail
n=${2:-100000}
body=$(mktemp)
trap 'rm -f "$body"' EXIT
head -c 1024 /dev/urandom > "$body"
out=$(ab -k -n "$n" -c 4 -p "$body" -T application/octet-stream "$1" 2>&1)
echo "$out"
grep -Eq "^Complete requests: +$n$" <<< "$out"
grep -Eq '^Failed requests: +0$' <<< "$out"
grep -Eq "^Keep-Alive requests: +$n$" <<< "$out"
! grep -q '^Non-2xx responses' <<< "$out"
