#!/bin/sh
# Checks the page and prints FILE:LINE: what is wrong.
failed=0

hollow=$(grep -nE '<(h[1-6]|p|time)( [^>]*)?></' index.html)
if [ -n "$hollow" ]; then
  echo "$hollow" | sed -E 's/^([0-9]+):.*/index.html:\1: this element has no text/'
  failed=1
fi

for file in $(grep -oE '(href|src)="[^"#:]+"' index.html | cut -d '"' -f 2); do
  if [ ! -f "$file" ]; then
    line=$(grep -n "\"$file\"" index.html | head -n 1 | cut -d : -f 1)
    echo "index.html:$line: $file does not exist"
    failed=1
  fi
done

if [ "$failed" -eq 0 ]; then
  echo "The page is in order."
fi
exit "$failed"
