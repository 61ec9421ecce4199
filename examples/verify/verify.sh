#!/bin/sh
# Verify the chain of hashes of a recording: sh verify.sh recording.jsonl
LC_ALL=C
export LC_ALL
before=00000000000000000000000000000000 number=0 wrong=0 line=
while IFS= read -r line; do
  number=$((number + 1))
  rest=${line#'{"hash":"'}
  said=${rest%"${rest#????????????????????????????????}"}
  body="{${rest#"$said"'","seq":'"$number",}"
  real=$(printf '%s%s' "$before" "$body" | sha256sum | cut -c 1-32)
  if [ "$said" != "$real" ]; then
    echo "line $number: its hash does not follow from line $((number - 1))"
    wrong=1
  fi
  before=$said last=$body
done <"$1"
[ -z "$line" ] || { echo "the last line is torn"; wrong=1; }
case ${last-} in '{"type":"close"'*) ;; *) echo "the last line is not a close line"; wrong=1 ;; esac
echo "$number lines, last hash $before"
[ $wrong = 0 ] && echo intact
exit $wrong
