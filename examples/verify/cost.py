#!/usr/bin/env python3
"""Compute the cost of a run again, from its recording alone: python3 cost.py recording.jsonl"""
import json
import sys

price, total, unknown = None, 0.0, 0
for text in open(sys.argv[1], encoding="utf-8"):
    line = json.loads(text)
    if line["type"] == "scenario":
        price = line.get("price")
    if line["type"] != "call" or "usage" not in line:
        continue
    usage = line["usage"]
    if price is None:
        unknown += 1
        continue
    cost = sum(usage.get(tokens, 0) * price[rate] for tokens, rate in (
        ("input", "input"), ("cached_input", "cached_input"), ("cache_write", "cache_write"), ("output", "output"))) / 1e6
    total += cost * (price["eur_per_usd"] if price["currency"] == "USD" else 1)
print(f"{total:.8f} EUR", f"and {unknown} calls without a price" if unknown else "")
