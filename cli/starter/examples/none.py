"""Reads the user's message from standard input, asks the model and prints its answer."""

import json
import os
import sys
import urllib.request

request = urllib.request.Request(
    os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1") + "/chat/completions",
    data=json.dumps({"model": "{{.Model}}", "messages": [{"role": "user", "content": sys.stdin.read()}]}).encode(),
    headers={"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["choices"][0]["message"]["content"])
