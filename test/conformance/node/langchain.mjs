// LangChain, and LangGraph's agent.
import { createAgent, tool } from "langchain";
import { ChatAnthropic } from "@langchain/anthropic";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { apiKey, forecast, model, object, rain, timeout, weather } from "./forecast.mjs";

const offered = [tool(rain, weather)];
const input = { messages: [{ role: "user", content: "hi" }] };

export const openai = (useResponsesApi) => (base, maxRetries) =>
  new ChatOpenAI({ model, apiKey, maxRetries, timeout, useResponsesApi, configuration: { baseURL: base } });

const anthropic = (base, maxRetries) =>
  new ChatAnthropic({ model, apiKey, maxRetries, anthropicApiUrl: base.replace(/\/v1$/, ""), clientOptions: { timeout } });

// told is the last message of an agent, or all pieces of it.
const told = (text, { response_metadata: about, usage_metadata: usage }) =>
  ({ text, finish: about.finish_reason ?? about.stop_reason ?? about.status, output: usage?.output_tokens });

// run lets an agent answer, with its structured output if the case wants JSON.
async function run(agent, { stream, json }) {
  if (!stream) {
    const { messages, structuredResponse } = await agent.invoke(input);
    return json ? object(structuredResponse) : told(messages.at(-1).text, messages.at(-1));
  }
  let whole, text = "";
  for await (const [piece] of await agent.stream(input, { streamMode: "messages" })) {
    if (piece.getType() !== "ai") continue;
    text += piece.text;
    whole = whole?.id === piece.id ? whole.concat(piece) : piece;
  }
  return told(text, whole);
}

const langchain = (create) => async (c) => {
  const llm = create(c.base, c.retries);
  if (c.json) return object(await llm.withStructuredOutput(forecast).invoke("hi"));
  return run(createAgent({ model: llm, tools: offered }), c);
};

export const graph = (create, tools = offered) => (c) =>
  run(createReactAgent({ llm: create(c.base, c.retries), tools, ...(c.json && { responseFormat: forecast }) }), c);

export const clients = {
  chat: langchain(openai(false)),
  responses: langchain(openai(true)),
  messages: langchain(anthropic),
  graphChat: graph(openai(false)),
  graphMessages: graph(anthropic),
};
