#!/bin/sh
# Starts `skillopt mcp` for an agent. Nothing that the open project brings along may run: passed over are relative entries of
# PATH, folders of the project, every node_modules/.bin, and links that lead there. No program is called before PATH is clean.
unset NODE_OPTIONS NODE_PATH CDPATH # a project's settings can set them, and they load code
set -f

# The project: the checkout around the current folder, or the folder itself. A home is no project.
here=$(pwd -P)
root=$here
while [ -n "$root" ] && [ ! -e "$root/.git" ]; do root=${root%/*}; done
[ -n "$root" ] || root=$here
home=$(cd "${HOME:-/}" 2>/dev/null && pwd -P)

holds() { # holds FOLDER PATH
  case $2/ in "$1"/*) return 0 ;; esac
  return 1
}
! holds "$root" "$home" || root=$here
! holds "$root" "$home" || root=

is_foreign() {
  case $1/ in */node_modules/.bin/*) return 0 ;; esac
  [ -n "$root" ] && holds "$root" "$1"
}

# A state folder in the project would hold consents that nobody gave.
is_outside() {
  case $1 in '~' | '~/'*) set -- "$home${1#'~'}" ;; esac
  case $1 in /*) ;; *) return 1 ;; esac
  real=$(cd "$1" 2>/dev/null && pwd -P) || real=$1
  ! is_foreign "$1" && ! is_foreign "$real"
}
is_outside "$SKILLOPT_HOME" || unset SKILLOPT_HOME
is_outside "$XDG_STATE_HOME" || unset XDG_STATE_HOME

clean=
IFS=:
for folder in $PATH; do
  case $folder in /*) ;; *) continue ;; esac
  real=$(cd "$folder" 2>/dev/null && pwd -P) || continue
  if is_foreign "$folder" || is_foreign "$real"; then continue; fi
  clean=$clean${clean:+:}$real
done
PATH=${clean:-/usr/bin:/bin}
export PATH

for folder in $PATH; do
  [ -f "$folder/skillopt" ] && [ -x "$folder/skillopt" ] || continue
  target=$(readlink -f "$folder/skillopt" 2>/dev/null || printf %s "$folder/skillopt")
  if is_foreign "$target"; then continue; fi
  exec "$folder/skillopt" mcp
done

echo 'skillopt is not installed: no program skillopt on PATH outside of the project. Install it: npm install -g skillopt' >&2
exit 127
