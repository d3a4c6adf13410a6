# shellcheck shell=bash
# Helpers shared by the scripts: messages, system packages, the checkout's root. Sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly root

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

fail() {
  say "$*"
  exit 1
}

is_debian() { [ "$(. /etc/os-release 2>/dev/null && printf '%s' "${ID:-}")" = debian ]; }

# as_root COMMAND...: runs it as root, directly or by passwordless sudo; status 126 if neither works.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    return 126
  fi
}

# need_tools TOOL=PACKAGE...: installs the Debian packages of the tools that are not on the PATH.
need_tools() {
  local missing=() tools=() pair
  for pair in "$@"; do
    command -v "${pair%%=*}" >/dev/null && continue
    tools+=("${pair%%=*}")
    missing+=("${pair#*=}")
  done
  [ ${#missing[@]} -eq 0 ] && return
  command -v apt-get >/dev/null || fail "missing: ${tools[*]}. Install them with your system's package manager."
  local install=(apt-get install -y --no-install-recommends "${missing[@]}")
  local lock=(-o DPkg::Lock::Timeout=600)
  say "installing ${missing[*]}"
  local log
  log=$(mktemp)
  if as_root true; then
    if { as_root apt-get "${lock[@]}" update &&
      as_root env DEBIAN_FRONTEND=noninteractive "${install[@]}" "${lock[@]}"; } >"$log" 2>&1; then
      rm -f "$log"
      return
    fi
    tail -n 15 "$log" >&2
    rm -f "$log"
    fail "could not install ${missing[*]} (see above; is there a network?). By hand: ${install[*]}"
  fi
  rm -f "$log"
  fail "missing: ${tools[*]}, and this user is not root and has no passwordless sudo. Run: sudo ${install[*]}"
}
