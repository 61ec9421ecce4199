// Reads the user's message from standard input, asks the model and prints its answer.
import { text } from "node:stream/consumers";
import OpenAI from "openai";

const client = new OpenAI(); // reads OPENAI_BASE_URL and OPENAI_API_KEY
const completion = await client.chat.completions.create({
  model: "{{.Model}}",
  messages: [{ role: "user", content: await text(process.stdin) }],
});
console.log(completion.choices[0].message.content);
