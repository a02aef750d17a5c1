#!/bin/bash
# wrk.sh URL [seconds]: pipelined requests, each answer compared.
set -euo pipefail
wrk --threads 1 --connections 4 --duration "${2:-10}s" --script "$(dirname "$0")/wrk.lua" "$1"
