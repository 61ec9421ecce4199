// The OpenAI Agents SDK.
import { Agent, Runner, setTracingDisabled, tool } from "@openai/agents-core";
import { OpenAIProvider } from "@openai/agents-openai";
import OpenAI from "openai";
import { apiKey, forecast, model, object, rain, timeout, weather } from "./forecast.mjs";

setTracingDisabled(true);

const { name, description, schema: parameters } = weather;

// agents runs an agent with the tool, or with those of MCP servers.
export const agents = (useResponses, tools = { tools: [tool({ name, description, parameters, execute: rain })] }) => async ({ base, stream, retries, json }) => {
  const openAIClient = new OpenAI({ baseURL: base, apiKey, maxRetries: retries, timeout });
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient, useResponses }) });
  const agent = new Agent({
    name: "forecaster",
    model,
    ...tools,
    ...(json && { outputType: forecast }),
  });
  const result = await runner.run(agent, "hi", { stream });
  let text = result.finalOutput;
  if (stream) {
    text = "";
    for await (const piece of result.toTextStream()) text += piece;
    await result.completed;
  }
  return json ? object(text) : { text, output: result.state.usage.outputTokens };
};

export const clients = { responses: agents(true), chat: agents(false) };
