// What clients of Node's do beside a talk with tools: images, custom tools, answers that
// the server stores, message threads, wrong paths. Each function gets a case and returns
// what the client understood.
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import OpenAI from "openai";
import { GoogleGenAI } from "@google/genai";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import { apiKey, forecastJSON, model, rain, weatherJSON } from "./forecast.mjs";

const timeout = 4000;
// The first 4 bytes of a PNG file.
const png = "iVBORw==";

const gpt = (base, retries = 0) => new OpenAI({ baseURL: base, apiKey, maxRetries: retries, timeout });

async function vision({ base, stream }) {
  const content = [
    { type: "text", text: "what is this?" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${png}`, detail: "low" } },
    { type: "input_audio", input_audio: { data: png, format: "wav" } },
    { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${png}` } },
  ];
  const request = { model, messages: [{ role: "user", content }] };
  const answer = stream
    ? await gpt(base).chat.completions.stream(request).finalChatCompletion()
    : await gpt(base).chat.completions.create(request);
  return { text: answer.choices[0].message.content };
}

// frameworkVision sends an image through the Vercel AI SDK.
const frameworkVision = (create) => async ({ base, stream }) => {
  const settings = {
    model: create({ base }),
    maxRetries: 0,
    messages: [{ role: "user", content: [{ type: "text", text: "what is this?" }, { type: "image", image: Buffer.from(png, "base64"), mediaType: "image/png" }] }],
  };
  if (!stream) return { text: (await generateText(settings)).text };
  return { text: await streamText(settings).text };
};

// custom calls a tool that takes a text, of those that are allowed, and answers it.
async function custom({ base, stream }) {
  const messages = [{ role: "user", content: "list" }];
  const tools = [
    { type: "custom", custom: { name: "sh", description: "a shell", format: { type: "text" } } },
    { type: "function", function: { name: "now", parameters: { type: "object", properties: {} } } },
  ];
  const tool_choice = { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [{ type: "custom", custom: { name: "sh" } }] } };
  const first = { model, messages, tools, tool_choice };
  let message;
  if (stream) {
    const call = { type: "custom", custom: { name: "", input: "" } };
    for await (const chunk of await gpt(base).chat.completions.create({ ...first, stream: true })) {
      for (const piece of chunk.choices[0]?.delta.tool_calls ?? []) {
        call.id ??= piece.id;
        call.custom.name += piece.custom?.name ?? "";
        call.custom.input += piece.custom?.input ?? "";
      }
    }
    message = { role: "assistant", content: null, tool_calls: [call] };
  } else {
    message = (await gpt(base).chat.completions.create(first)).choices[0].message;
  }
  const [call] = message.tool_calls;
  messages.push(message, { role: "tool", tool_call_id: call.id, content: "a.txt" });
  // Some clients send back an empty text for the arguments of a call without any.
  messages.push({ role: "assistant", tool_calls: [{ id: "c0", type: "function", function: { name: "now", arguments: "" } }] });
  messages.push({ role: "tool", tool_call_id: "c0", content: "noon" });
  const last = await gpt(base).chat.completions.create({ model, messages, tools });
  return { text: last.choices[0].message.content, thinking: `${call.type} ${call.custom.name}: ${call.custom.input}` };
}

// previous goes on with an answer that the server stores.
async function previous({ base, stream }) {
  const tools = [{ type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false }];
  const ask = (members) => {
    const request = { model, tools, ...members };
    return stream ? gpt(base).responses.stream(request).finalResponse() : gpt(base).responses.create(request);
  };
  const first = await ask({ input: "pick a number" });
  const second = await ask({ input: "which number?", previous_response_id: first.id });
  const call = second.output.find((item) => item.type === "function_call");
  const third = await ask({ previous_response_id: second.id, input: [{ type: "function_call_output", call_id: call.call_id, output: "seen" }] });
  return { text: third.output_text };
}

async function unknownPrevious({ base }) {
  await gpt(base, 2).responses.create({ model, input: "hi", previous_response_id: "resp_nope" });
}

// references lets the Vercel AI SDK refer to what the server stores, which is its default.
async function references({ base, stream }) {
  const settings = { model: createOpenAI({ baseURL: base, apiKey })(model), maxRetries: 0 };
  const messages = [];
  let text;
  for (const content of ["pick a number", "which number?"]) {
    messages.push({ role: "user", content });
    const answer = stream ? streamText({ ...settings, messages }) : await generateText({ ...settings, messages });
    text = await answer.text;
    messages.push(...(await answer.response).messages);
  }
  return { text };
}

// toolRunner lets Anthropic's client run the agent's loop, over a message thread unless
// the server declines that.
async function toolRunner({ base, stream, retries, json }) {
  const api = new Anthropic({ baseURL: base.replace(/\/v1$/, ""), apiKey, maxRetries: retries, timeout });
  const weather = betaTool({
    name: "weather",
    inputSchema: weatherJSON,
    description: "the weather",
    run: rain,
  });
  const runner = api.beta.messages.toolRunner({
    model, max_tokens: 100, messages: [{ role: "user", content: "hi" }], tools: [weather], stream,
    ...(json && { output_config: { format: { type: "json_schema", schema: forecastJSON } } }),
  });
  let message;
  for await (const turn of runner) message = stream ? await turn.finalMessage() : turn;
  return { text: message.content.map((block) => block.text ?? "").join(""), finish: message.stop_reason, output: message.usage.output_tokens };
}

// googleVision sends an image to Gemini in a chat, and asks for what the API has beside answers.
async function googleVision({ base, stream }) {
  const api = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: base.replace(/\/v1$/, ""), timeout } });
  const message = [{ text: "what is this?" }, { inlineData: { mimeType: "image/png", data: png } }];
  const chat = api.chats.create({ model, config: { systemInstruction: "Be brief.", responseMimeType: "application/json", responseJsonSchema: {} } });
  let text = "";
  for await (const chunk of stream ? await chat.sendMessageStream({ message }) : [await chat.sendMessage({ message })]) text += chunk.text ?? "";
  const models = [];
  for await (const one of await api.models.list()) models.push(one.name);
  const { totalTokens } = await api.models.countTokens({ model, contents: "hi" });
  const { embeddings } = await api.models.embedContent({ model, contents: ["a", "b"], config: { outputDimensionality: 3 } });
  const sizes = embeddings.map((e) => e.values.length);
  return { text, thinking: `${models} ${(await api.models.get({ model })).name} ${typeof totalTokens} ${sizes}` };
}

// astray asks for what is not there, and goes on.
async function astray({ base }) {
  await gpt(base).vectorStores.create({ name: "cats" }).catch(() => {});
  const answer = await gpt(base).chat.completions.create({ model, messages: [{ role: "user", content: "hi" }] });
  return { text: answer.choices[0].message.content };
}

async function withoutV1({ base }) {
  const answer = await gpt(base.replace(/\/v1$/, "")).chat.completions.create({ model, messages: [{ role: "user", content: "hi" }] });
  return { text: answer.choices[0].message.content };
}

const anthropicTwice = ({ base }) => generateText({ model: createAnthropic({ baseURL: base + "/v1", apiKey })(model), prompt: "hi", maxRetries: 0 });

export const features = {
  vision,
  "vision, ai": frameworkVision(({ base }) => createOpenAI({ baseURL: base, apiKey }).chat(model)),
  "vision, ai over Responses": frameworkVision(({ base }) => createOpenAI({ baseURL: base, apiKey })(model)),
  "vision, ai over Messages": frameworkVision(({ base }) => createAnthropic({ baseURL: base, apiKey })(model)),
  "vision, Gemini": googleVision,
  custom,
  previous,
  unknownPrevious,
  references,
  toolRunner,
  astray,
  withoutV1,
  anthropicTwice,
};
