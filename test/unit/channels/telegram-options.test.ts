import { describe, expect, it } from "vitest";
import { telegramOptions } from "../../../adapters/telegram/index.js";

const token = "123456:ABC-DEF_ghi";
const problems = (entry: Record<string, unknown>) => {
  const checked = telegramOptions.safeParse({ name: "bot", token, ...entry });
  return checked.success ? [] : checked.error.issues.map((issue) => [issue.path.join("."), issue.message]);
};

describe("a Telegram account's options", () => {
  it("need only a name and a token", () => {
    expect(telegramOptions.parse({ name: "bot", token })).toEqual({
      name: "bot",
      token,
      apiRoot: "https://api.telegram.org",
      groups: "mentioned",
      receive: { mode: "polling" },
    });
  });

  it("may say everything", () => {
    const polling = { api_root: "http://127.0.0.1:81/", mode: "polling", replace_webhook: true, groups: "never" };
    expect(telegramOptions.parse({ name: "bot", token, ...polling })).toMatchObject({
      apiRoot: "http://127.0.0.1:81",
      groups: "never",
      receive: { mode: "polling", replaceWebhook: true },
    });
    const webhook = { mode: "webhook", secret_token: "a-b_C9", url: "https://dale.example/x/" };
    expect(telegramOptions.parse({ name: "bot", token, ...webhook }).receive).toEqual({
      mode: "webhook",
      secretToken: "a-b_C9",
      url: "https://dale.example/x",
    });
  });

  it("refuse a webhook without a secret: it would let everybody in", () => {
    expect(problems({ mode: "webhook" })).toEqual([["secret_token", "is needed for mode: webhook"]]);
    expect(problems({ mode: "webhook", secret_token: "" })).toHaveLength(1);
    expect(problems({ mode: "webhook", secret_token: "with space" })).toHaveLength(1);
  });

  it("refuse what does not fit together, what they do not know, and what cannot be", () => {
    expect(problems({ url: "https://dale.example" })[0]?.[0]).toBe("url");
    expect(problems({ secret_token: "abc" })[0]?.[0]).toBe("secret_token");
    expect(problems({ mode: "webhook", secret_token: "abc", replace_webhook: true })[0]?.[0]).toBe("replace_webhook");
    expect(problems({ tokn: "x" })).toHaveLength(1);
    expect(problems({ name: "Not A Slug" })[0]?.[0]).toBe("name");
    expect(problems({ api_root: "ftp://x" })[0]?.[0]).toBe("api_root");
  });

  it("do not repeat a token that is refused", () => {
    const refused = problems({ token: "AAF_no-bot-id" });
    expect(refused[0]?.[0]).toBe("token");
    expect(JSON.stringify(refused)).not.toContain("AAF_no");
  });
});
