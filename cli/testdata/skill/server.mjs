// The same agent as an HTTP application.
import { createServer } from "node:http";
import { answer } from "./agent.mjs";

createServer(async (req, res) => {
  if (req.url === "/health") return res.end("ok");
  let body = "";
  for await (const chunk of req) body += chunk;
  try {
    res.end(JSON.stringify({ text: await answer(JSON.parse(body).message) }));
  } catch (e) {
    res.writeHead(500).end(JSON.stringify({ error: e.message }));
  }
}).listen(process.env.PORT);
