// The agent of the skill's examples: it answers questions about orders.
import { readFileSync } from "node:fs";

const orders = { "A-17": "shipped on Monday", "B-4": "waits for payment" };
const extra = JSON.parse(process.env.AGENT_PARAMETERS ?? "{}");
const tools = [{ type: "function", function: {
  name: "find_order", parameters: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
} }];

export async function answer(question) {
  const messages = [{ role: "user", content: question }];
  for (let call = 0; call < 5; call++) {
    const response = await fetch(process.env.OPENAI_BASE_URL + "/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer " + process.env.OPENAI_API_KEY },
      body: JSON.stringify({ model: "gpt-4.1-mini", messages, tools, ...extra }),
    });
    if (!response.ok) throw new Error(`the model answers ${response.status}`);
    const { message } = (await response.json()).choices[0];
    if (!message.tool_calls) return message.content;
    messages.push(message);
    for (const { id, function: { arguments: args } } of message.tool_calls) {
      messages.push({ role: "tool", tool_call_id: id, content: orders[JSON.parse(args).id] ?? "no such order" });
    }
  }
  throw new Error("5 calls without an answer");
}

if (process.argv[1].endsWith("agent.mjs")) {
  try {
    console.log(await answer(readFileSync(0, "utf8").trim()));
  } catch (e) {
    console.error(e.message);
    process.exit(1);
  }
}
