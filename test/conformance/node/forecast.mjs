// What all clients are asked for beside a text: a tool, and an answer with a schema.
import { z } from "zod";

export const model = "gpt-4.1-mini";
export const apiKey = "k";
export const timeout = 10_000; // of a request, in milliseconds

// weather is the tool of each agent.
export const weather = { name: "weather", description: "the weather", schema: z.object({ city: z.string() }) };
export const weatherJSON = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };

// rain is the result of the tool, which shows the arguments.
export const rain = ({ city }) => `rain in ${city}`;

// forecast is the schema of answers.
export const forecast = z.object({ city: z.string(), degrees: z.number() });
export const forecastJSON = {
  type: "object",
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
  additionalProperties: false,
};

// object is an answer with that schema.
export const object = (value) => ({ text: JSON.stringify(forecast.parse(value)) });
