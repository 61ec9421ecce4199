// An example of somebody's own agent: a librarian, as an HTTP application for Node 18 or later. It streams a model's
// answer to the reader as server-sent events. It has no dependencies and knows nothing of rehearse.
import { createServer } from "node:http";

const model = process.env.OPENAI_BASE_URL ?? "https://api.openai.com/v1";
const conversations = new Map();

// ask asks the model and yields its answer in pieces.
async function* ask(messages) {
  const response = await fetch(`${model}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${process.env.OPENAI_API_KEY}` },
    body: JSON.stringify({ model: "gpt-4.1-mini", stream: true, messages }),
  });
  if (!response.ok) throw new Error(`the model answered with status ${response.status}`);
  let rest = "";
  for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + bytes).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
      yield JSON.parse(line.slice("data: ".length)).choices[0]?.delta?.content ?? "";
    }
  }
}

// chat answers {"reader": "...", "message": "..."} with events {"text": "..."}.
async function chat(request, response) {
  let body = "";
  for await (const bytes of request.setEncoding("utf8")) body += bytes;
  const { reader, message } = JSON.parse(body);
  const messages = conversations.get(reader) ?? [{ role: "system", content: "You are a librarian. Recommend one book." }];
  messages.push({ role: "user", content: message });
  let answer = "";
  for await (const text of ask(messages)) {
    if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
    answer += text;
    response.write(`data: ${JSON.stringify({ text })}\n\n`);
  }
  conversations.set(reader, [...messages, { role: "assistant", content: answer }]);
  response.end();
}

createServer((request, response) => {
  if (request.url === "/healthz") return response.end("ok");
  chat(request, response).catch((error) => {
    console.error(error);
    if (response.headersSent) return response.destroy(); // half an answer is none
    response.writeHead(502).end(error.message);
  });
}).listen(process.env.PORT ?? 8080, "127.0.0.1");
