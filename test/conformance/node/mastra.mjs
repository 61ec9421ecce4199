// Mastra, over models of the Vercel AI SDK and over its own model at a URL.
process.env.MASTRA_TELEMETRY_DISABLED = "1";
const { Agent } = await import("@mastra/core/agent");
const { createTool } = await import("@mastra/core/tools");
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { apiKey, forecast, model, object, rain, weather } from "./forecast.mjs";

const offered = {
  weather: createTool({ id: weather.name, description: weather.description, inputSchema: weather.schema, execute: async (input) => rain(input) }),
};

export const mastra = (create, tools = offered) => async ({ base, stream, retries, json }) => {
  const agent = new Agent({
    id: "forecaster",
    name: "forecaster",
    instructions: "Be brief.",
    model: create(base),
    maxRetries: retries,
    tools,
  });
  const options = { modelSettings: { maxRetries: retries }, ...(json && { structuredOutput: { schema: forecast } }) };
  let answer;
  if (stream) {
    answer = await agent.stream("hi", options);
    await answer.consumeStream();
    const failed = await answer.error;
    if (failed) throw failed;
  } else {
    answer = await agent.generate("hi", options);
  }
  if (json) return object(await answer.object);
  return { text: await answer.text, finish: await answer.finishReason, output: (await answer.usage).outputTokens };
};

export const clients = {
  responses: mastra((baseURL) => createOpenAI({ baseURL, apiKey })(model)),
  messages: mastra((baseURL) => createAnthropic({ baseURL, apiKey })(model)),
  url: mastra((url) => ({ id: `custom/${model}`, url, apiKey })),
};
