#!/bin/sh
# By hand: put a file in, overwrite it, get any version back.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

echo "month,revenue" > "$folder/sales.csv"
sandkeep put "$folder/sales.csv" reports/sales.csv
echo "January,10" >> "$folder/sales.csv"
sandkeep put "$folder/sales.csv" reports/sales.csv     # a new version; the first one stays

sandkeep log reports/sales.csv
sandkeep get reports/sales.csv "$folder/back.csv"
cmp "$folder/sales.csv" "$folder/back.csv"
echo "the first version:"
sandkeep cat reports/sales.csv --version 1
echo "a link for somebody without a key:"
sandkeep link --signed reports/sales.csv
