"""Reads the user's message from standard input, asks the model and prints its answer."""

import sys

from openai import OpenAI

client = OpenAI()  # reads OPENAI_BASE_URL and OPENAI_API_KEY
completion = client.chat.completions.create(
    model="{{.Model}}",
    messages=[{"role": "user", "content": sys.stdin.read()}],
)
print(completion.choices[0].message.content)
