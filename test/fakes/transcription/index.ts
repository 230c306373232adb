/**
 * An OpenAI-compatible `POST /v1/audio/transcriptions` over real HTTP, for tests. It holds requests to the protocol
 * (400), and hears what a test decides.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What is said in a recording, or what goes wrong instead. */
export type Hearing =
  | { readonly text: string }
  | { readonly fault: "status"; readonly status: number }
  /** Accepts the request and never answers. */
  | { readonly fault: "hang" }
  | { readonly fault: "reset" }
  | { readonly fault: "not_json" };

export interface HeardRecording {
  readonly authorization: string | undefined;
  readonly model: string;
  readonly language: string | undefined;
  readonly filename: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
}

export interface FakeTranscription {
  /** What `media.transcription.endpoint` is to be. */
  readonly url: string;
  readonly heard: readonly HeardRecording[];
  /** From now on. */
  hears(next: Hearing): void;
  stop(): Promise<void>;
}

export async function startFakeTranscription(first: Hearing = { text: "Hello." }): Promise<FakeTranscription> {
  const heard: HeardRecording[] = [];
  let hearing = first;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== "POST" || request.url !== "/v1/audio/transcriptions") {
      return send(response, 404, { error: { message: "there is nothing here" } });
    }
    const type = request.headers["content-type"] ?? "";
    const form = await new Response(Buffer.concat(chunks), { headers: { "content-type": type } })
      .formData()
      .catch(() => undefined);
    const file = form?.get("file");
    const model = form?.get("model");
    // The real one knows a recording's form by its name alone.
    if (!(file instanceof File) || typeof model !== "string" || !/\.(ogg|mp3|m4a|mp4|wav|webm|flac)$/.test(file.name)) {
      return send(response, 400, { error: { message: "Invalid file format", type: "invalid_request_error" } });
    }
    const language = form?.get("language");
    heard.push({
      authorization: request.headers.authorization,
      model,
      language: typeof language === "string" ? language : undefined,
      filename: file.name,
      mime: file.type,
      bytes: new Uint8Array(await file.arrayBuffer()),
    });
    if ("text" in hearing) return send(response, 200, { text: hearing.text });
    switch (hearing.fault) {
      case "status":
        return send(response, hearing.status, { error: { message: "as the test wanted" } });
      case "hang":
        return;
      case "reset":
        response.socket?.resetAndDestroy();
        return;
      case "not_json":
        response.writeHead(200, { "content-type": "text/html" }).end("<html>Welcome to nginx!</html>");
    }
  }

  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    heard,
    hears(next) {
      hearing = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
