# shellcheck shell=bash
# The steps of provision.sh and their output. A step inspects the machine and calls `change` for what is missing. So a
# second run changes nothing, and a run after a failure continues where the failed one stopped.

dry_run=${dry_run:-}
changes=() # of the present step
changed_steps=0

say() { echo "$*"; }

# give_up WHAT HINT
give_up() {
  echo "provision.sh: $1" >&2
  echo "  $2" >&2
  exit 1
}

# step NAME FUNCTION [ARGUMENTS]: runs it and prints whether anything changed
step() {
  local name=$1
  shift
  changes=()
  "$@"
  if ((${#changes[@]} == 0)); then
    say "ok       $name"
    return
  fi
  changed_steps=$((changed_steps + 1))
  say "${dry_run:+would be }changed  $name"
  printf '           %s\n' "${changes[@]}"
}

# change WHAT COMMAND [ARGUMENTS]
change() {
  changes+=("$1")
  shift
  if [[ -z $dry_run ]]; then "$@"; fi
}

has_mode() { [[ -e $1 && $(stat -c '%a %U:%G' "$1") == "$2 $3" ]]; }

# folder PATH MODE OWNER
folder() {
  if ! has_mode "$@"; then change "folder $1" install -d -m "$2" -o "${3%:*}" -g "${3#*:}" "$1"; fi
}

# put TARGET MODE <CONTENT: writes a file that belongs to root, whole or not at all
put() {
  local content
  content=$(cat && echo .) # the dot keeps trailing line breaks
  content=${content%.}
  if ! has_mode "$1" "$2" root:root || [[ $(cat "$1" && echo .) != "$content." ]]; then
    change "file $1" write_file "$1" "$2" "$content"
  fi
}

write_file() {
  install -d -m 755 "$(dirname "$1")"
  (umask 077 && printf '%s' "$3" >"$1.new")
  chmod "$2" "$1.new"
  mv -f "$1.new" "$1"
}

# gone PATH...
gone() {
  local path
  for path in "$@"; do
    if [[ -e $path || -L $path ]]; then change "without $path" rm -rf --one-file-system "$path"; fi
  done
}

# applied NAME WHAT FILES... -- COMMAND [ARGUMENTS]: runs the command unless it ran since these files last changed. The
# mark is written after success, so the next run makes up for a failure in between.
applied() {
  local mark=$CONFIG/applied/$1 what=$2 files=()
  shift 2
  while [[ $1 != -- ]]; do
    files+=("$1")
    shift
  done
  shift
  local sum
  sum=$({ cat -- "${files[@]}" 2>/dev/null || true; } | sha256sum)
  if [[ $(cat "$mark" 2>/dev/null) != "$sum" ]]; then
    change "$what" "$@"
    if [[ -z $dry_run ]]; then write_file "$mark" 644 "$sum"; fi
  fi
}

is_installed() { [[ $(dpkg-query --show --showformat '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# packages RECORD PACKAGE...: installs the missing ones, and notes them first for --uninstall
packages() {
  local record=$1 package missing=()
  shift
  for package in "$@"; do
    if ! is_installed "$package"; then missing+=("$package"); fi
  done
  if ((${#missing[@]})); then change "packages ${missing[*]}" install_packages "$record" "${missing[@]}"; fi
}

install_packages() {
  local record=$1
  shift
  install -d -m 755 "$(dirname "$record")"
  printf '%s\n' "$@" | sort -u - <(cat "$record" 2>/dev/null) >"$record.new"
  mv -f "$record.new" "$record"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# enabled UNIT...: starts them now and at every boot of the machine
enabled() {
  local unit
  for unit in "$@"; do
    systemctl is-enabled --quiet "$unit" 2>/dev/null || change "enable $unit" systemctl enable --quiet "$unit"
    systemctl is-active --quiet "$unit" 2>/dev/null || change "start $unit" systemctl start "$unit"
  done
}

# disabled UNIT...
disabled() {
  local unit
  for unit in "$@"; do
    if systemctl is-active --quiet "$unit" 2>/dev/null; then change "stop $unit" systemctl stop "$unit"; fi
    if systemctl is-enabled --quiet "$unit" 2>/dev/null; then
      change "disable $unit" systemctl disable --quiet "$unit"
    fi
  done
}
