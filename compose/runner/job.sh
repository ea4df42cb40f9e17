#!/usr/bin/env bash
# Starts the Actions runner for one job. The configuration comes from a file and is passed on in a variable that the
# runner removes from its environment before it starts anything.
set -euo pipefail

ACTIONS_RUNNER_INPUT_JITCONFIG=$(<"$CREDENTIALS_DIRECTORY/jitconfig")
export ACTIONS_RUNNER_INPUT_JITCONFIG
unset CREDENTIALS_DIRECTORY
exec ./run.sh
