#!/usr/bin/env bash
# Makes a Debian (12 or newer) or Ubuntu 24.04 machine the benchmark runner of one repository, or uninstalls everything.
# README.md explains what it does and why; --help explains how to call it.
set -euo pipefail

HERE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
CONFIG=/etc/pushbench-runner
LIBRARY=/usr/local/lib/pushbench-runner
STATE=/var/lib/pushbench-runner
OFFER=/var/lib/pushbench-renewal
UNITS=/etc/systemd/system
# What every job runs by hand otherwise: git and Python, for the servers come as images.
PACKAGES=(acl ca-certificates curl git gnupg nftables openssl python3 python3-venv)
ENGINE=(docker-ce docker-ce-cli containerd.io docker-buildx-plugin docker-compose-plugin)
USERS=(pushbench pushbench-github pushbench-renew)
OWN_UNITS=(pushbench-{firewall,github@,job,renew,runner}.service pushbench-renew.timer)
# shellcheck source=steps.sh
source "$HERE/steps.sh"
# shellcheck source=removal.sh
source "$HERE/removal.sh"
# shellcheck source=pins.sh
source "$HERE/pins.sh"

repository='' branch=main workflow=.github/workflows/bench.yml runner_group=1 runner_name=pushbench ssh='' uninstall=''
token_file='' app_id='' app_key_file=''
ssh_from=()

help() {
  cat <<'END'
Make this machine the benchmark runner of one GitHub repository. A second run changes nothing.

  provision.sh --repository OWNER/NAME --token-file FILE (--allow-ssh NETWORK... | --no-ssh) [options]
  provision.sh --repository OWNER/NAME --app-id ID --app-key-file FILE (--allow-ssh NETWORK... | --no-ssh) [options]
  provision.sh --uninstall

  --repository OWNER/NAME  whose jobs it runs, as GitHub spells it
  --token-file FILE        a fine-grained token for that repository alone (Administration: write, Actions: read);
                           - reads it from standard input; not needed again once it is there
  --app-id ID              a GitHub App that is installed on that repository, instead of a token (same permissions);
                           name it at every call
  --app-key-file FILE      the App's private key (.pem); not needed again once it is there
  --allow-ssh NETWORK      let SSH in from this address or network (repeatable); nothing else comes in
  --no-ssh                 let nothing in: the machine has a console
  --branch NAME            the default branch (main)
  --workflow PATH          the only workflow file that may run here (.github/workflows/bench.yml)
  --runner-group ID        the group of the organisation's runners that this one joins (1, the default group)
  --fleet NAME             one of several machines that share the servers of a run, under the name pushbench-NAME
  --dry-run                say what would change, and change nothing
  --uninstall              take everything away again, the packages that were installed for it too
  --help                   this text

Examples
  sudo compose/runner/provision.sh --dry-run --repository me/pushbench --token-file token --allow-ssh 192.0.2.0/24
  pass show pushbench-runner | sudo compose/runner/provision.sh --repository me/pushbench --token-file - --no-ssh
  sudo PUSHBENCH_RUNNER_VERSION=2.339.0 PUSHBENCH_RUNNER_SHA256_x64=... compose/runner/provision.sh ...
  sudo compose/runner/provision.sh --uninstall
END
}

read_arguments() {
  while (($#)); do
    case $1 in
    --help | -h)
      help
      exit
      ;;
    --dry-run) dry_run=yes ;;
    --no-ssh) ssh=none ;;
    --uninstall) uninstall=yes ;;
    --repository | --token-file | --app-id | --app-key-file | --allow-ssh | --branch | --workflow | --runner-group | \
      --fleet)
      if (($# < 2)); then give_up "$1 wants a value" "see --help"; fi
      case $1 in
      --repository) repository=$2 ;;
      --token-file) token_file=$2 ;;
      --app-id) app_id=$2 ;;
      --app-key-file) app_key_file=$2 ;;
      --allow-ssh) ssh_from+=("$2") ;;
      --branch) branch=$2 ;;
      --workflow) workflow=$2 ;;
      --runner-group) runner_group=$2 ;;
      --fleet) runner_name=pushbench-$2 ;;
      esac
      shift
      ;;
    *) give_up "there is no option $1" "see --help" ;;
    esac
    shift
  done
}

check_arguments() {
  local address='^[0-9a-fA-F.:]+(/[0-9]{1,3})?$'
  [[ $repository =~ ^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$ ]] ||
    give_up "--repository must be OWNER/NAME" "such as me/pushbench"
  [[ $branch =~ ^[A-Za-z0-9._/-]+$ ]] || give_up "--branch $branch is no branch" "such as main"
  [[ $workflow =~ ^\.github/workflows/[A-Za-z0-9._-]+\.ya?ml$ ]] ||
    give_up "--workflow $workflow is no workflow file" "such as .github/workflows/bench.yml"
  [[ $runner_group =~ ^[1-9][0-9]{0,17}$ ]] ||
    give_up "--runner-group $runner_group is no number" "the address of the group's page ends with it"
  [[ $runner_name =~ ^pushbench(-[a-z0-9][a-z0-9-]{0,39})?$ ]] ||
    give_up "--fleet ${runner_name#pushbench-} is no name" "small letters, digits and -, such as rack-2"
  check_credential
  local network
  for network in "${ssh_from[@]}"; do
    [[ $network =~ $address ]] || give_up "--allow-ssh $network is no address or network" "such as 192.0.2.0/24"
  done
  if ((${#ssh_from[@]} == 0)) && [[ -z $ssh ]]; then
    give_up "nobody could log in any more" \
      "say from where with --allow-ssh, or --no-ssh where the machine has a console"
  fi
  if ((${#ssh_from[@]})) && [[ -n $ssh ]]; then
    give_up "--no-ssh and --allow-ssh exclude each other" "leave one out"
  fi
}

# A token or an App: the existing file shows which of the two is already there.
check_credential() {
  if [[ -n $token_file && -n $app_key_file$app_id ]]; then
    give_up "--token-file and --app-id exclude each other" "leave one out"
  fi
  if [[ -n $app_key_file && -z $app_id ]]; then
    give_up "--app-key-file wants --app-id" "the App's page shows its id"
  fi
  [[ -z $app_id || $app_id =~ ^[A-Za-z0-9.]{1,40}$ ]] || give_up "--app-id $app_id is no id" "the App's page shows it"
  if [[ -n $token_file$app_key_file ]]; then return; fi
  [[ -s $CONFIG/credential ]] ||
    give_up "there is no token yet" "give --token-file, or --app-id and --app-key-file; README.md says which"
  if [[ -r $CONFIG/credential ]]; then
    if [[ $(head -c 11 "$CONFIG/credential") == "-----BEGIN " ]]; then
      [[ -n $app_id ]] || give_up "the key that is here is an App's" "give its --app-id, or --token-file in its place"
    else
      [[ -z $app_id ]] || give_up "what is here is a token" "give --app-key-file, too"
    fi
  fi
}

check_machine() {
  if [[ -z $dry_run && $(id -u) != 0 ]]; then give_up "only root can do this" "use sudo, or --dry-run to look first"; fi
  if [[ -z $dry_run && -e /run/pushbench-runner/busy ]]; then
    give_up "a job is measuring on this machine" "wait for it, or end it: systemctl stop pushbench-runner"
  fi
}

# Facts that depend on the distribution and the processor. Sets ID, VERSION_CODENAME, icu, runner_arch, runner_sum.
know_machine() {
  # shellcheck source=/dev/null
  source /etc/os-release
  case $ID-$VERSION_ID in
  debian-12) icu=libicu72 ;;
  debian-13) icu=libicu76 ;;
  ubuntu-24.04) icu=libicu74 ;;
  *) give_up "$PRETTY_NAME is not known to this script" "use Debian 12, Debian 13 or Ubuntu 24.04" ;;
  esac
  case $(uname -m) in
  x86_64) runner_arch=x64 ;;
  aarch64) runner_arch=arm64 ;;
  *) give_up "there is no Actions runner for $(uname -m)" "use x86_64 or aarch64" ;;
  esac
  local sum=PUSHBENCH_RUNNER_SHA256_$runner_arch
  runner_sum=${!sum:-}
  [[ $runner_sum =~ ^[0-9a-f]{64}$ ]] ||
    give_up "$sum is not set for runner $PUSHBENCH_RUNNER_VERSION" "take it from that release's own list of checksums"
}

# Debian's own engines are too old for a network without a way out (CVE-2024-29018), so Docker's packages are used.
engine_source() {
  local key=/etc/apt/keyrings/pushbench-docker.asc
  if [[ ! -s $key ]] || ! is_pinned_key "$key"; then change "key $key" fetch_key "$key"; fi
  put /etc/apt/sources.list.d/pushbench-docker.sources 644 <<END
Types: deb
URIs: https://download.docker.com/linux/$ID
Suites: $VERSION_CODENAME
Components: stable
Signed-By: $key
END
}

is_pinned_key() {
  local found
  found=$(gpg --batch --homedir "$scratch" --show-keys --with-colons "$1" 2>/dev/null |
    awk -F: '$1 == "pub" {pubs++} $1 == "fpr" && !f {f = $10} END {print pubs, f}')
  [[ $found == "1 $PUSHBENCH_DOCKER_KEY" ]]
}

fetch_key() {
  fetch "https://download.docker.com/linux/$ID/gpg" "$scratch/key"
  is_pinned_key "$scratch/key" ||
    give_up "Docker's key is not the pinned $PUSHBENCH_DOCKER_KEY" "if Docker changed it, change pins.sh after checking"
  write_file "$1" 644 "$(cat "$scratch/key")"
}

fetch() { curl --fail --silent --show-error --location --proto '=https' --tlsv1.2 --retry 3 --output "$2" "$1"; }

# The engine's first start must find its configuration: other user ids use another store of images.
engine_configuration() {
  local file=/etc/docker/daemon.json
  if [[ -e $file && ! -e $CONFIG/applied/engine ]] && ! cmp -s "$file" "$HERE/files/daemon.json"; then
    give_up "$file is somebody else's" "this needs a machine of its own; remove that file if it is not needed"
  fi
  put "$file" 644 <"$HERE/files/daemon.json"
}

# An engine that upgrades itself would end every series: its version is part of a record's environment.
engine_held() {
  local package
  for package in "${ENGINE[@]}"; do
    if ! apt-mark showhold | grep -qx "$package"; then change "hold $package" apt-mark hold "$package" >/dev/null; fi
  done
}

users() {
  local user
  for user in "${USERS[@]}"; do
    if ! id "$user" >/dev/null 2>&1; then
      change "user $user" useradd --system --user-group --no-create-home --home-dir /nonexistent \
        --shell /usr/sbin/nologin "$user"
    fi
  done
}

# The pinned version is the first one: from then on the machine renews its runner itself (pushbench-renew.service). Its
# runner is older than the pin only if that failed.
runner() {
  local wanted="$PUSHBENCH_RUNNER_VERSION $runner_sum" here
  folder "$STATE" 755 root:root
  folder "$OFFER" 700 pushbench-renew:pushbench-renew
  here=$(cat "$STATE/version" 2>/dev/null || true)
  if [[ $here != "$wanted" || ! -x $STATE/dist/run.sh ]]; then
    if [[ -x $STATE/dist/run.sh ]] && is_newer "${here%% *}" "$PUSHBENCH_RUNNER_VERSION"; then return; fi
    change "Actions runner $PUSHBENCH_RUNNER_VERSION" unpack_runner
    if [[ -z $dry_run ]]; then
      write_file "$STATE/version" 644 "$wanted"
      write_file "$CONFIG/runner" 644 "$wanted"
    fi
  fi
}

is_newer() { [[ $1 != "$2" && $(printf '%s\n' "$1" "$2" | sort --version-sort | tail -n 1) == "$1" ]]; }

unpack_runner() {
  local version=$PUSHBENCH_RUNNER_VERSION archive=$scratch/runner.tar.gz got
  local name=actions-runner-linux-$runner_arch-$version.tar.gz
  fetch "https://github.com/actions/runner/releases/download/v$version/$name" "$archive"
  got=$(sha256sum "$archive" | cut -d ' ' -f 1)
  if [[ $got != "$runner_sum" ]]; then
    give_up "$name has the SHA-256 $got and not the pinned $runner_sum" \
      "do not use it; compare with the release's own list"
  fi
  rm -rf "$STATE/dist.new" "$STATE/version"
  python3 -E -s "$HERE/runner_unpack.py" unpack "$archive" "$STATE/dist.new"
  rm -rf "$STATE/dist"
  mv "$STATE/dist.new" "$STATE/dist"
}

programs() {
  local file
  for file in loop.sh job.sh job-started.sh; do put "$LIBRARY/$file" 755 <"$HERE/$file"; done
  for file in runner_{api,app,github,hook,policy,renewal,unpack}.py; do put "$LIBRARY/$file" 644 <"$HERE/$file"; done
}

settings() {
  folder "$CONFIG" 755 root:root
  put "$CONFIG/settings" 644 <<END
repository=$repository
branch=$branch
workflow=$workflow
name=$runner_name
server=https://github.com
api=https://api.github.com
runner_group=$runner_group
app_id=$app_id
END
  if [[ -n $credential ]]; then put "$CONFIG/credential" 600 <<<"$credential"; fi
}

# Sets credential. Reads it once, so that - works, and before anything changes.
read_credential() {
  credential=''
  local file=$token_file$app_key_file
  if [[ -z $file ]]; then return; fi
  if [[ $file == - ]]; then file=/dev/stdin; fi
  credential=$(cat -- "$file") || give_up "$file cannot be read" "it must hold the token or the App's private key"
  if [[ -n $app_key_file ]]; then
    local edge='[A-Z ]*PRIVATE KEY-----'
    [[ $credential =~ ^"-----BEGIN "${edge}[A-Za-z0-9+/=[:space:]]+"-----END "${edge}$ ]] ||
      give_up "$app_key_file holds no private key" "download one at the App's page, under Private keys"
  else
    [[ $credential =~ ^[A-Za-z0-9_.-]{20,}$ ]] ||
      give_up "$token_file holds no token" "one line, such as github_pat_..."
  fi
}

kernel() {
  put /etc/sysctl.d/90-pushbench-runner.conf 644 <"$HERE/files/sysctl.conf"
  applied sysctl "load sysctl.d" /etc/sysctl.d/90-pushbench-runner.conf -- \
    sysctl --quiet --load /etc/sysctl.d/90-pushbench-runner.conf
  put /etc/tmpfiles.d/pushbench-runner.conf 644 <"$HERE/files/tmpfiles.conf"
  applied tmpfiles "make tmpfiles" /etc/tmpfiles.d/pushbench-runner.conf -- \
    systemd-tmpfiles --create /etc/tmpfiles.d/pushbench-runner.conf
}

units() {
  local unit
  for unit in "${OWN_UNITS[@]}"; do put "$UNITS/$unit" 644 <"$HERE/systemd/$unit"; done
  for unit in apt-daily apt-daily-upgrade; do
    put "$UNITS/$unit.service.d/pushbench-runner.conf" 644 <"$HERE/systemd/between-jobs.conf"
  done
  applied units "read units again" "${OWN_UNITS[@]/#/$UNITS/}" "$HERE/systemd/between-jobs.conf" -- \
    systemctl daemon-reload
}

firewall() {
  local network family rules text
  rules=$(for network in "${ssh_from[@]}"; do
    family=ip
    if [[ $network == *:* ]]; then family=ip6; fi
    echo "    $family saddr $network tcp dport 22 accept"
  done)
  text=$(<"$HERE/files/firewall.nft")
  put "$CONFIG/firewall.nft" 644 <<<"${text/'    # SSH: from --allow-ssh'/"$rules"}"
  applied firewall "load the rules" "$CONFIG/firewall.nft" -- systemctl reload-or-restart pushbench-firewall.service
  enabled pushbench-firewall.service
}

engine_running() {
  applied engine "restart docker with its configuration" /etc/docker/daemon.json -- systemctl restart docker.service
  enabled docker.service
}

runner_running() {
  applied runner "restart pushbench-runner" "$LIBRARY"/* "$UNITS"/pushbench-{job,runner,github@}.service \
    "$CONFIG"/{settings,credential,runner} -- systemctl restart pushbench-runner.service
  enabled pushbench-runner.service pushbench-renew.timer
}

install_all() {
  step "packages" packages "$CONFIG/packages" "${PACKAGES[@]}" "$icu"
  step "users" users
  step "settings and credential" settings
  step "firewall rules and units" units
  step "no inbound ports" firewall
  step "container engine: source and key" engine_source
  step "container engine: configuration" engine_configuration
  step "container engine: packages" packages "$CONFIG/packages" "${ENGINE[@]}"
  step "container engine: held at its version" engine_held
  step "container engine: running" engine_running
  step "kernel settings" kernel
  step "Actions runner" runner
  step "programs" programs
  step "runner: running" runner_running
}

main() {
  read_arguments "$@"
  check_machine
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  if [[ -n $uninstall ]]; then
    uninstall_all
    say "Kernel settings stay as they are until the next start. GitHub forgets the runner within a day."
  else
    check_arguments
    know_machine
    read_credential
    install_all
  fi
  say "$changed_steps ${dry_run:+of the steps would be }changed"
}

main "$@"
