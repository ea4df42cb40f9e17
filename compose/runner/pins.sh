# shellcheck shell=bash disable=SC2034 # read by provision.sh
# What is fetched from outside the distribution. The pinned Actions runner is only the first one; the machine then
# renews it itself. Change version and checksums together: https://github.com/actions/runner/releases publishes them.
# Each may be overridden from outside for one call.
pinned=2.338.0
PUSHBENCH_RUNNER_VERSION=${PUSHBENCH_RUNNER_VERSION:-$pinned}
if [[ $PUSHBENCH_RUNNER_VERSION == "$pinned" ]]; then # a checksum is of one version only
  : "${PUSHBENCH_RUNNER_SHA256_x64:=af4b794c1bc41d73d40535e3fe092a39f9679cd8d965954c2aca25a05ca41d32}"
  : "${PUSHBENCH_RUNNER_SHA256_arm64:=628b4a7258487b80c1d3c221095a7ded349f5ae0175fd3dfab708d07428f041b}"
fi

# Docker's key for its package repository: https://docs.docker.com/engine/install/debian/
PUSHBENCH_DOCKER_KEY=${PUSHBENCH_DOCKER_KEY:-9DC858229FC7DD38854AE2D88D81803C0EBFCD88}
