#!/bin/bash
# Installs the clients that the scripts here run.
set -euo pipefail
apt-get install -y --no-install-recommends curl wrk nghttp2-client apache2-utils
