#!/bin/sh
# One night: finds the duplicates of a snapshot of a corpus, holds the result against that of the night before, and keeps the last ones.
#
# usage: nightly.sh [--index DIR] CORPUS OUT [NIGHT] [-- OPTIONS OF dupsift run]
#
# The result is OUT/NIGHT; NIGHT is today's date where it is not given. OUT/latest leads to the newest result that was published.
# A night that was ended before its time goes on where it was when the same command runs again; a night that is done is not done
# again. One night at a time works in OUT. With --index each night is matched against all nights that the index in DIR has, and added
# to it; a night that was ended begins anew. Once it is published, rows of earlier nights are put together.
#
# Exit codes: 0 published (rejected rows or files are told in the log); 4 held back by a guard: look, then run the command that
# the log names; 75 another night is still at work; else what dupsift run ended with.
#
# DUPSIFT: the program, else the one in PATH, else target/release/dupsift beside this script. KEEP: results that are kept (30).
set -eu

fail() { echo "nightly: $2" >&2; exit "$1"; }

# The path from the root: the log names commands that are typed in other folders.
whole() { case $1 in '' | /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac; }

usage() {
  if [ -f "$0" ]; then sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p;}' "$0"; else echo "usage: nightly.sh [--index DIR] CORPUS OUT [NIGHT] [-- OPTIONS OF dupsift run]"; fi
  exit 0
}
case " ${1-} ${2-} ${3-} " in *" -h "* | *" --help "*) usage ;; esac
index= again='run the same command again to resume'
if [ "${1-}" = --index ]; then
  [ -n "${2-}" ] || fail 2 "--index expects a folder, such as: nightly.sh --index /data/seen /data/crawl/today /data/dedup"
  index=$(whole "$2") again='the same command begins the night anew'
  shift 2
fi
[ $# -ge 2 ] || fail 2 "expected CORPUS and OUT, such as: nightly.sh /data/crawl/today /data/dedup"
corpus=$1 out=$(whole "$2")
shift 2
night=$(date +%F)
if [ $# -gt 0 ] && [ "$1" != -- ]; then night=$1; shift; fi
if [ $# -gt 0 ]; then
  [ "$1" = -- ] || fail 2 "expected -- before the options of dupsift run, found $1"
  shift
fi
case $night in '' | latest | *.held | .* | */* | *[[:cntrl:]]*) fail 2 "$night cannot be the name of a night; expected one such as $(date +%F)" ;; esac
keep=${KEEP:-30}
case $keep in '' | 0 | *[!0-9]*) fail 2 "KEEP is $keep; expected a number of results, 1 or more" ;; esac
program=${DUPSIFT:-$(command -v dupsift || echo "$(dirname -- "$0")/../target/release/dupsift")}
case $program in */*) program=$(whole "$program") ;; esac
[ -x "$program" ] || fail 2 "$program is no program; build it with make, or say DUPSIFT=/path/to/dupsift"

mkdir -p -- "$out"
[ ! -L "$out/.nightly.lock" ] || fail 2 "$out/.nightly.lock is a link; expected a file of this script: remove the link"
exec 9>>"$out/.nightly.lock"
flock -n 9 || fail 75 "another night is at work in $out; this one was not begun"

# OUT/.nightly.published has the names of the results in the order in which they were published. A clock may be wrong, so no time
# decides what is the newest of these or what is deleted. A result that the list does not have yet comes after them. If a person accepted
# it, it comes before the first one of the list that began later: by then it may be an old one.
list=$out/.nightly.published
new=
trap 'rm -f -- ${new:+"$new"}' EXIT

stands() {
  case $1 in '' | latest | *.held | .* | */*) return 1 ;; esac
  [ -f "$out/$1/_SUCCESS" ] && [ -f "$out/$1/run.json" ] && [ ! -L "$out/$1" ]
}

is_listed() { [ -f "$list" ] && grep -Fxq -e "$1" "$list"; }

# A line on a result: what it is, when its run began, and its name.
line() {
  time=$(sed -n 's/^  "started": "\(.*\)",$/\1/p' "$out/$2/run.json" | head -n 1)
  printf '%s %s %s\n' "$1" "${time:-0}" "$2"
}

published() {
  {
    [ ! -f "$list" ] || while IFS= read -r name; do
      if stands "$name"; then line listed "$name"; fi
    done <"$list"
    for record in "$out"/*/_SUCCESS; do
      name=${record%/_SUCCESS} name=${name##*/}
      if stands "$name" && ! is_listed "$name"; then
        if grep -q '^  "accepted": {' "$out/$name/run.json"; then line accepted "$name"; else line new "$name"; fi
      fi
    done | LC_ALL=C sort -k 2
  } | LC_ALL=C awk '
    { name = substr($0, length($1) + length($2) + 3) }
    $1 == "listed" { times[++count] = $2; names[count] = name; next }
    { other_times[++others] = $2; other_names[others] = name; is_accepted[others] = $1 == "accepted" }
    END {
      for (at = 1; at <= count; at++) {
        for (other = 1; other <= others; other++) {
          if (is_accepted[other] && !printed[other] && other_times[other] "" < times[at] "") {
            printed[other] = 1
            print other_names[other]
          }
        }
        print names[at]
      }
      for (other = 1; other <= others; other++) if (!printed[other]) print other_names[other]
    }'
}

# Writes the list, with the result of that name, if one is given, as the newest. It gets its name when it is complete, and what stands
# under another name, a link for example, is not written to.
note() {
  new=$(mktemp -- "$out/.nightly.new.XXXXXXXX")
  chmod -- +rw "$new"
  if [ -n "${1-}" ]; then
    without=0
    published | grep -Fxv -e "$1" >"$new" || without=$?
    # 1: there was no other name.
    [ "$without" -le 1 ] || fail 1 "the list of results in $out could not be written"
    printf '%s\n' "$1" >>"$new"
  else
    published >"$new"
  fi
  mv -fT -- "$new" "$list"
  new=
}

# Rows of earlier nights are put together; first the index takes up a night whose run was ended when its result had its name.
compact() {
  [ -z "$index" ] || "$program" index compact "$index" 9>&- >&2 || echo "nightly: $index has all nights, but its rows were not put together; the next night tries again" >&2
}

lead() { ln -sfn -- "$1" "$out/.latest" && mv -fT -- "$out/.latest" "$out/latest"; }

note
if [ -f "$out/$night/_SUCCESS" ]; then
  if [ -n "$index" ]; then
    code=0
    # The index knows whether it is the result of this corpus.
    "$program" run "$corpus" --out "$out/$night" --no-progress --index "$index" "$@" 9>&- >&2 || code=$?
    case $code in
      0 | 3) ;;
      *) fail "$code" "$out/$night is there already, and is not the result of this corpus with these options; give it another name: CORPUS OUT NAME" ;;
    esac
  fi
  # A run that was ended when its result had its name may have left the link and the index behind.
  lead "$(published | tail -n 1)"
  compact
  echo "nightly: $out/$night is done already; for another crawl of that day give it a name: CORPUS OUT NAME" >&2
  exit 0
fi
previous=$(published | tail -n 1)
if [ -n "$previous" ]; then
  lead "$previous"
  set -- --previous "$out/$previous" "$@"
fi
[ -z "$index" ] || set -- --index "$index" "$@"

code=0
"$program" run "$corpus" --out "$out/$night" --no-progress "$@" 9>&- || code=$?
case $code in
  0) ;;
  3) echo "nightly: rows or files were rejected, or a guard fired; see $out/$night/rejected and $out/$night/run.json" >&2 ;;
  4)
    fail 4 "held back; $out/latest stays. Look at $out/$night.held; if it is right: $program accept $out/$night.held, and this command again, which leads latest there"
    ;;
  2) fail 2 "dupsift ended with 2: mend what it says; nothing was begun" ;;
  *) fail "$code" "dupsift ended with $code; $again" ;;
esac
note "$night"
lead "$night"
published | head -n "-$keep" | while IFS= read -r old; do
  if [ "$old" != "$night" ]; then rm -rf -- "${out:?}/$old"; fi
done
echo "nightly: $out/$night is published" >&2
compact
