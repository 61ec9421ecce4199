// Reads the user's message from standard input, asks the model and prints its answer.
import { text } from "node:stream/consumers";

const response = await fetch(`${process.env.OPENAI_BASE_URL ?? "https://api.openai.com/v1"}/chat/completions`, {
  method: "POST",
  headers: { "Content-Type": "application/json", Authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
  body: JSON.stringify({ model: "{{.Model}}", messages: [{ role: "user", content: await text(process.stdin) }] }),
});
if (!response.ok) throw new Error(`the model answered ${response.status}: ${await response.text()}`);
console.log((await response.json()).choices[0].message.content);
