// LlamaIndex: its clients, and its agent for tools.
import { anthropic, AnthropicSession } from "@llamaindex/anthropic";
import { tool } from "@llamaindex/core/tools";
import { openai, openaiResponses } from "@llamaindex/openai";
import { agent, agentStreamEvent } from "@llamaindex/workflow";
import { apiKey, forecast, model, object, rain, timeout, weather } from "./forecast.mjs";

const { name, description, schema: parameters } = weather;
const offered = [tool({ name, description, parameters, execute: rain })];
const messages = [{ role: "user", content: "hi" }];

// textOf is the text of a message, whose content may consist of parts.
const textOf = ({ content }) => (typeof content === "string" ? content : content.map((part) => part.text ?? "").join(""));

export const ask = (create, tools = offered) => async ({ base, stream, retries, json, tool: withTool }) => {
  const llm = create(base, retries);
  if (json) return object(JSON.parse(textOf((await llm.chat({ messages, responseFormat: forecast })).message)));
  if (!withTool) {
    const answer = await llm.chat({ messages, stream });
    if (!stream) return { text: textOf(answer.message), output: answer.raw?.usage?.completion_tokens ?? answer.raw?.usage?.output_tokens };
    let text = "";
    for await (const piece of answer) text += piece.delta;
    return { text };
  }
  const running = agent({ llm, tools }).runStream("hi");
  let text = "", result;
  for await (const event of running) {
    if (agentStreamEvent.include(event)) text += event.data.delta;
    result = event.data.result ?? result;
  }
  return { text: stream ? text : result };
};

const settings = (base, maxRetries) => ({ model, apiKey, baseURL: base, maxRetries, timeout });

export const chat = (base, retries) => openai(settings(base, retries));

export const clients = {
  chat: ask(chat),
  responses: ask((base, retries) => openaiResponses(settings(base, retries))),
  messages: ask((base, maxRetries) => // it ignores a baseURL of its own
    anthropic({ model, session: new AnthropicSession({ apiKey, baseURL: base.replace(/\/v1$/, ""), maxRetries, timeout }) })),
};
