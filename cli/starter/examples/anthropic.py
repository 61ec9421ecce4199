"""Reads the user's message from standard input, asks the model and prints its answer."""

import sys

from anthropic import Anthropic

client = Anthropic()  # reads ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY
message = client.messages.create(
    model="{{.Model}}",
    max_tokens=1000,
    messages=[{"role": "user", "content": sys.stdin.read()}],
)
print(message.content[0].text)
