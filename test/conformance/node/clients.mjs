// The vendors' own Node clients, and the Vercel AI SDK. Each function gets a case and returns what the client
// understood; with json it asks for a forecast in JSON.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { GoogleGenAI } from "@google/genai";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createAnthropic as createAnthropic6 } from "ai6-anthropic";
import { createOpenAI as createOpenAI6 } from "ai6-openai";
import { features } from "./features.mjs";
import { apiKey, forecastJSON, model, rain, timeout, weatherJSON } from "./forecast.mjs";
import { natives } from "./native.mjs";
import { services } from "./services.mjs";
import { framework, framework6 } from "./vercel.mjs";

const geminiModel = "gemini-3.1-pro-preview"; // which requires thought signatures

// chat asks over chat completions and answers tool calls until there are none.
async function chat({ base, stream, retries, json }) {
  const api = new OpenAI({ baseURL: base, apiKey, maxRetries: retries, timeout });
  const messages = [{ role: "user", content: "hi" }];
  const tools = [{ type: "function", function: { name: "weather", parameters: weatherJSON } }];
  const response_format = { type: "json_schema", json_schema: { name: "forecast", schema: forecastJSON, strict: true } };
  for (;;) {
    const request = { model, messages, tools, ...(json && { response_format }) };
    const answer = stream
      ? await api.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
      : await api.chat.completions.create(request);
    const { message, finish_reason } = answer.choices[0];
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) {
      return { text: message.content ?? message.refusal, finish: finish_reason, output: answer.usage?.completion_tokens };
    }
    messages.push(message);
    for (const call of calls) {
      messages.push({ role: "tool", tool_call_id: call.id, content: rain(JSON.parse(call.function.arguments)) });
    }
  }
}

// responses does the same over Responses.
async function responses({ base, stream, retries, json }) {
  const api = new OpenAI({ baseURL: base, apiKey, maxRetries: retries, timeout });
  const input = [{ role: "user", content: "hi" }];
  const tools = [{ type: "function", name: "weather", parameters: weatherJSON, strict: false }];
  const text = { format: { type: "json_schema", name: "forecast", schema: forecastJSON, strict: true } };
  for (;;) {
    const request = { model, input, tools, store: false, ...(json && { text }) };
    const answer = stream ? await api.responses.stream(request).finalResponse() : await api.responses.create(request);
    if (answer.status === "failed") throw Object.assign(new Error(answer.error.message), { status: 200 });
    const calls = answer.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) {
      const thoughts = answer.output.filter((item) => item.type === "reasoning").flatMap((item) => item.summary);
      return {
        text: answer.output_text,
        finish: answer.incomplete_details?.reason ?? answer.status,
        thinking: thoughts.map((t) => t.text).join(""),
        output: answer.usage?.output_tokens,
      };
    }
    input.push(...answer.output);
    for (const call of calls) {
      input.push({ type: "function_call_output", call_id: call.call_id, output: rain(JSON.parse(call.arguments)) });
    }
  }
}

// messages does the same over Anthropic Messages.
async function messages({ base, stream, retries, json }) {
  const api = new Anthropic({ baseURL: base.replace(/\/v1$/, ""), apiKey, maxRetries: retries, timeout });
  const talk = [{ role: "user", content: "hi" }];
  const tools = [{ name: "weather", input_schema: weatherJSON }];
  const output_config = { format: { type: "json_schema", schema: forecastJSON } };
  for (;;) {
    const request = { model, max_tokens: 100, messages: talk, tools, ...(json && { output_config }) };
    const answer = stream ? await api.messages.stream(request).finalMessage() : await api.messages.create(request);
    const of = (type) => answer.content.filter((block) => block.type === type);
    const calls = of("tool_use");
    if (calls.length === 0) {
      return {
        text: of("text").map((b) => b.text).join(""),
        thinking: of("thinking").map((b) => b.thinking).join(""),
        finish: answer.stop_reason,
        output: answer.usage.output_tokens,
      };
    }
    talk.push({ role: "assistant", content: answer.content });
    talk.push({ role: "user", content: calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: rain(c.input) })) });
  }
}

// gemini does the same over Google's API.
async function gemini({ base, stream, retries, json }) {
  const retryOptions = retries > 0 ? { attempts: retries + 1, initialDelay: 0.01 } : undefined;
  const api = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: base.replace(/\/v1$/, ""), timeout, retryOptions } });
  const contents = [{ role: "user", parts: [{ text: "hi" }] }];
  const config = { tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: weatherJSON }] }] };
  if (json) Object.assign(config, { responseMimeType: "application/json", responseJsonSchema: forecastJSON });
  for (;;) {
    const request = { model: geminiModel, contents, config };
    const parts = [];
    let finish, usage;
    for await (const chunk of stream ? await api.models.generateContentStream(request) : [await api.models.generateContent(request)]) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      finish = chunk.candidates?.[0]?.finishReason ?? finish;
      usage = chunk.usageMetadata ?? usage;
    }
    const calls = parts.flatMap((part) => part.functionCall ?? []);
    if (calls.length === 0) {
      const texts = (thought) => parts.filter((part) => (part.thought ?? false) === thought).map((part) => part.text ?? "").join("");
      return { text: texts(false), thinking: texts(true), finish: finish ?? "", output: (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0) };
    }
    contents.push({ role: "model", parts });
    contents.push({ role: "user", parts: calls.map(({ id, name, args }) => ({ functionResponse: { id, name, response: { output: rain(args) } } })) });
  }
}

export const clients = {
  chat,
  responses,
  messages,
  gemini,
  "ai-openai": framework(({ base: baseURL }) => createOpenAI({ baseURL, apiKey })(model)),
  "ai-chat": framework(({ base: baseURL }) => createOpenAI({ baseURL, apiKey }).chat(model)),
  "ai-anthropic": framework(({ base: baseURL }) => createAnthropic({ baseURL, apiKey })(model)),
  "ai-google": framework(({ base: baseURL }) => createGoogleGenerativeAI({ baseURL, apiKey })(geminiModel)),
  "ai6-openai": framework6(({ base: baseURL }) => createOpenAI6({ baseURL, apiKey })(model)),
  "ai6-chat": framework6(({ base: baseURL }) => createOpenAI6({ baseURL, apiKey }).chat(model)),
  "ai6-anthropic": framework6(({ base: baseURL }) => createAnthropic6({ baseURL, apiKey })(model)),
  ...natives,
  features: (c) => features[c.feature](c),
  services: (c) => services[c.feature](c),
};
