#!/bin/sh
# Runs dupsift on a snapshot of a corpus, compares the result with the previous one, and keeps the most recent results.
#
# usage: nightly.sh [--index DIR] CORPUS OUT [NAME] [-- OPTIONS OF dupsift run]
#
# The result is OUT/NAME; NAME is today's date by default. OUT/latest is a link to the newest published result. If a run was interrupted,
# the same command resumes it. A complete result is not computed again. Only one run at a time uses OUT. With --index, the corpus is a
# batch: it is matched against all earlier batches in the index DIR and added to them. After publication, the rows of
# earlier batches are merged. The texts of removed documents are stored (--keep-texts), because the next snapshot may overwrite CORPUS.
#
# Exit codes: 0 published (the log reports rejected rows and files); 4 held back by a guard: check the result, then run a command in the
# log; 75 another run is in progress; otherwise the exit code of dupsift run.
#
# DUPSIFT: the program; by default the one in PATH, or target/release/dupsift next to this script. KEEP: number of results to keep (30).
set -eu

fail() { echo "nightly: $2" >&2; exit "$1"; }

# Prints the absolute path, because the log shows commands that are run in other folders.
whole() { case $1 in '' | /*) printf '%s\n' "$1" ;; *) printf '%s\n' "$PWD/$1" ;; esac; }

usage() {
  if [ -f "$0" ]; then sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p;}' "$0"; else echo "usage: nightly.sh [--index DIR] CORPUS OUT [NAME] [-- OPTIONS OF dupsift run]"; fi
  exit 0
}
case " ${1-} ${2-} ${3-} " in *" -h "* | *" --help "*) usage ;; esac
index=
if [ "${1-}" = --index ]; then
  [ -n "${2-}" ] || fail 2 "--index expects a folder, such as: nightly.sh --index /data/seen /data/crawl/today /data/dedup"
  index=$(whole "$2")
  shift 2
fi
[ $# -ge 2 ] || fail 2 "expected CORPUS and OUT, such as: nightly.sh /data/crawl/today /data/dedup"
corpus=$1 out=$(whole "$2")
shift 2
result=$(date +%F)
if [ $# -gt 0 ] && [ "$1" != -- ]; then result=$1; shift; fi
if [ $# -gt 0 ]; then
  [ "$1" = -- ] || fail 2 "expected -- before the options of dupsift run, found $1"
  shift
fi
case $result in '' | latest | *.held | .* | */* | *[[:cntrl:]]*) fail 2 "$result is not a valid name for a run; expected a name such as $(date +%F)" ;; esac
keep=${KEEP:-30}
case $keep in '' | 0 | *[!0-9]*) fail 2 "KEEP is $keep; expected a number of results, 1 or more" ;; esac
program=${DUPSIFT:-$(command -v dupsift || echo "$(dirname -- "$0")/../target/release/dupsift")}
case $program in */*) program=$(whole "$program") ;; esac
[ -x "$program" ] || fail 2 "$program is not a program; build it with make, or set DUPSIFT=/path/to/dupsift"

case " $* " in *' --keep-texts'*) ;; *) set -- --keep-texts "$@" ;; esac

mkdir -p -- "$out"
[ ! -L "$out/.nightly.lock" ] || fail 2 "$out/.nightly.lock is a link, but must be a file; remove the link"
exec 9>>"$out/.nightly.lock"
flock -n 9 || fail 75 "another run is in progress in $out; this run was not started"

# OUT/.nightly.published has the names of the results in the order in which they were published. A clock may be wrong, so times do not
# decide which result is the newest or which ones are deleted. Results that are not in the list yet come after the listed results. A result
# that a person accepted comes before the first listed result that began later, because the accepted result may be old. A held
# result that was computed again (`-- --accept`) is listed at the start time of the held result.
list=$out/.nightly.published
new=
# The start time of the held result that this run replaces, if there is one.
held_since=
trap 'rm -f -- ${new:+"$new"}' EXIT

is_result() {
  case $1 in '' | latest | *.held | .* | */*) return 1 ;; esac
  [ -f "$out/$1/_SUCCESS" ] && [ -f "$out/$1/run.json" ] && [ ! -L "$out/$1" ]
}

is_listed() { [ -f "$list" ] && grep -Fxq -e "$1" "$list"; }

# Prints the start time of the result in a folder.
started() { sed -n 's/^  "started": "\(.*\)",$/\1/p' "$1/run.json" | head -n 1; }

# Prints a line about a result: its kind, the start time of its run, and its name.
line() {
  time=$(started "$out/$2")
  printf '%s %s %s\n' "$1" "${time:-0}" "$2"
}

published() {
  {
    [ ! -f "$list" ] || while IFS= read -r name; do
      if is_result "$name"; then line listed "$name"; fi
    done <"$list"
    for record in "$out"/*/_SUCCESS; do
      name=${record%/_SUCCESS} name=${name##*/}
      if is_result "$name" && ! is_listed "$name"; then
        if [ -n "$held_since" ] && [ "$name" = "$result" ]; then
          printf 'accepted %s %s\n' "$held_since" "$name"
        elif grep -q '^  "accepted": {' "$out/$name/run.json"; then
          line accepted "$name"
        else
          line new "$name"
        fi
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

# Writes the list; a result whose name is passed becomes the newest. The list is written under a new, unpredictable name and then renamed,
# so that nothing is written through a link.
note() {
  new=$(mktemp -- "$out/.nightly.new.XXXXXXXX")
  chmod -- +rw "$new"
  if [ -n "${1-}" ]; then
    without=0
    published | grep -Fxv -e "$1" >"$new" || without=$?
    # Exit code 1 means that there was no other name.
    [ "$without" -le 1 ] || fail 1 "the list of results in $out could not be written"
    printf '%s\n' "$1" >>"$new"
  else
    published >"$new"
  fi
  mv -fT -- "$new" "$list"
  new=
}

# Merges the rows of earlier batches. First, the index completes a batch whose run was interrupted after its result was published.
compact() {
  [ -z "$index" ] || "$program" index compact "$index" 9>&- >&2 || echo "nightly: $index has all batches, but its rows could not be merged; the next run tries again" >&2
}

# Names the results that wait for a decision.
waiting() {
  for held in "$out"/*.held; do
    if [ -f "$held/_HELD" ]; then
      if [ -n "$index" ]; then
        name=${held##*/}
        echo "nightly: $held is still held back, and the index has changed since; check it, then run this script with the files of that run, the name ${name%.held} and -- --accept, or run: $program reject $held" >&2
      else
        echo "nightly: $held is still held back; check it, then run: $program accept $held, or: $program reject $held" >&2
      fi
    fi
  done
}

lead() { ln -sfn -- "$1" "$out/.latest" && mv -fT -- "$out/.latest" "$out/latest"; }

note
if [ -f "$out/$result/_SUCCESS" ]; then
  if [ -n "$index" ]; then
    code=0
    # With an index, the run itself checks whether the existing result belongs to this corpus.
    "$program" run "$corpus" --out "$out/$result" --no-progress --index "$index" "$@" 9>&- >&2 || code=$?
    case $code in
      0 | 3) ;;
      *) fail "$code" "$out/$result already exists and is not the result of this corpus with these options; pass another name: CORPUS OUT NAME" ;;
    esac
  fi
  # A run that was interrupted after its result was published may not have updated the link and the index.
  lead "$(published | tail -n 1)"
  waiting
  compact
  echo "nightly: $out/$result is already complete; for another crawl of the same day, pass a name: CORPUS OUT NAME" >&2
  exit 0
fi
previous=$(published | tail -n 1)
if [ -n "$previous" ]; then
  lead "$previous"
  set -- --previous "$out/$previous" "$@"
fi
[ -z "$index" ] || set -- --index "$index" "$@"

if [ -f "$out/$result.held/_HELD" ]; then held_since=$(started "$out/$result.held"); fi
code=0
"$program" run "$corpus" --out "$out/$result" --no-progress "$@" 9>&- || code=$?
case $code in
  0) ;;
  3) echo "nightly: rows or files were rejected, or a guard fired; see $out/$result/rejected and $out/$result/run.json" >&2 ;;
  4)
    fail 4 "held back; $out/latest is unchanged. Check $out/$result.held; if it is correct, run: $program accept $out/$result.held, then this command again to update latest; if it is wrong, run: $program reject $out/$result.held"
    ;;
  2) fail 2 "dupsift exited with code 2; fix the reported problem and run the command again; nothing was started" ;;
  *) fail "$code" "dupsift exited with code $code; run the same command again to resume" ;;
esac
if [ -n "$held_since" ]; then note; else note "$result"; fi
lead "$(published | tail -n 1)"
published | head -n "-$keep" | while IFS= read -r old; do
  if [ "$old" != "$result" ]; then rm -rf -- "${out:?}/$old"; fi
done
echo "nightly: $out/$result is published" >&2
waiting
compact
