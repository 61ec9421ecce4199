// Reads the user's message from standard input, asks the model and prints its answer.
import { text } from "node:stream/consumers";
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic(); // reads ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY
const message = await client.messages.create({
  model: "{{.Model}}",
  max_tokens: 1000,
  messages: [{ role: "user", content: await text(process.stdin) }],
});
console.log(message.content[0].text);
