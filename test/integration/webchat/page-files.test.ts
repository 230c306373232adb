import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { openWebchat } from "../../fixtures/webchat.js";

const folder = new URL("../../../adapters/webchat/page/", import.meta.url);

describe("the page's files", () => {
  it("may do nothing but what the page needs", async () => {
    const web = await openWebchat();
    const page = await web.visitor().request("GET", "/");
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const policy = page.headers.get("content-security-policy") ?? "";
    for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "connect-src 'self'"]) {
      expect(policy).toContain(rule);
    }
    expect(policy).not.toContain("unsafe");
    expect(page.headers.get("x-content-type-options")).toBe("nosniff");
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    expect(page.headers.get("set-cookie")).toBeNull();
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|\bon\w+=|\bstyle=|https?:/);
  });

  it("are served with their types, and once", async () => {
    const web = await openWebchat();
    for (const name of (await readdir(folder)).filter((file) => /\.(js|css|svg)$/.test(file))) {
      const response = await web.visitor().request("GET", `/${name}`);
      expect([name, response.status]).toEqual([name, 200]);
      expect(response.headers.get("content-type")).toMatch(/^(text\/(javascript|css)|image\/svg\+xml)/);
      const again = await web
        .visitor()
        .request("GET", `/${name}`, undefined, { "if-none-match": response.headers.get("etag") ?? "" });
      expect([again.status, await again.text()]).toEqual([304, ""]);
    }
  });

  it("are asked for below a folder, however the address is written", async () => {
    const web = await openWebchat();
    const bare = await web.adapter.handle?.(new Request("http://127.0.0.1/chat/web?x=1"), "/");
    expect([bare?.status, bare?.headers.get("location")]).toEqual([307, "web/?x=1"]);
    const head = await web.adapter.handle?.(new Request("http://127.0.0.1/chat/web/", { method: "HEAD" }), "/");
    expect([head?.status, await head?.text()]).toEqual([200, ""]);
  });

  it.each([
    "/tsconfig.json",
    "/shapes.d.ts",
    "/nothing.js",
    "/../adapter.ts",
    "/..%2fadapter.ts",
    "//etc/passwd",
    "/constructor",
  ])("are nothing else: %s", async (path) => {
    const web = await openWebchat();
    const response = await web.adapter.handle?.(new Request("http://127.0.0.1/chat/web/x"), path);
    expect(response?.status).toBe(404);
  });

  it("are not written to", async () => {
    const web = await openWebchat();
    expect((await web.visitor().request("PUT", "/", {})).status).toBe(405);
  });
});
