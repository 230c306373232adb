import { describe, expect, it } from "vitest";
import { whatsappCloudOptions } from "../../../adapters/whatsapp-cloud/index.js";

const entry = {
  name: "main",
  phone_number_id: "106540352242922",
  access_token: "EAAG",
  app_secret: "s3cret",
  verify_token: "typed",
};

describe("a Cloud API account's entry", () => {
  it("needs its ids and secrets, and nothing else", () => {
    expect(whatsappCloudOptions.parse(entry)).toEqual({
      name: "main",
      phoneNumberId: "106540352242922",
      accessToken: "EAAG",
      appSecret: "s3cret",
      verifyToken: "typed",
      graphUrl: "https://graph.facebook.com/v25.0",
      groups: "mentioned",
    });
    for (const key of Object.keys(entry)) {
      const { [key as keyof typeof entry]: _, ...rest } = entry;
      expect(whatsappCloudOptions.safeParse(rest).success).toBe(false);
    }
  });

  it("may name another version of the Graph API, and a template for late notices", () => {
    const more = {
      graph_url: "http://127.0.0.1:8082/v26.0/",
      late_template: { name: "confirm_again", language: "es_AR" },
    };
    expect(whatsappCloudOptions.parse({ ...entry, ...more })).toMatchObject({
      graphUrl: "http://127.0.0.1:8082/v26.0",
      lateTemplate: { name: "confirm_again", language: "es_AR" },
    });
  });

  it.each([
    ["a number instead of its id", { phone_number_id: "+54 9 11 5555-0001" }],
    ["an empty secret, which everybody knows", { app_secret: "" }],
    ["a token with a line break", { access_token: "EAAG\n" }],
    ["a graph_url that is none", { graph_url: "graph.facebook.com" }],
    ["a key that nobody knows", { api_version: "v25.0" }],
  ])("is refused with %s", (_, wrong) => {
    expect(whatsappCloudOptions.safeParse({ ...entry, ...wrong }).success).toBe(false);
  });
});
