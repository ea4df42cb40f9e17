#!/bin/sh
# ACTIONS_RUNNER_HOOK_JOB_STARTED must name a shell script; runner_hook.py makes all decisions. -E -s: ignore the
# environment and the user's home.
set -eu
exec /usr/bin/python3 -E -s /usr/local/lib/pushbench-runner/runner_hook.py \
  /etc/pushbench-runner/settings /run/pushbench-runner/admitted
