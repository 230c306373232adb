/** Bytes that wait for a browser which does not read, before it is cut off. It comes back and reads on from there. */
const waitingAtMost = 4_000_000;

/** One open stream of server-sent events. */
export interface EventWriter {
  readonly body: ReadableStream<Uint8Array>;
  /** @param id what the browser names when it comes back */
  write(event: string, data: unknown, id?: string): void;
  close(): void;
}

/** @param onEnd called once, whoever ended it */
export function createEventWriter(onEnd: () => void): EventWriter {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const end = (): void => {
    if (!controller) return;
    controller = undefined;
    onEnd();
  };
  const close = (): void => {
    const open = controller;
    end();
    open?.close();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (given) => {
        controller = given;
      },
      cancel: end,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
  return {
    body,
    write(event, data, id) {
      if (!controller) return;
      const lines = [`event: ${event}`, `data: ${JSON.stringify(data)}`];
      if (id !== undefined) lines.unshift(`id: ${id}`);
      controller.enqueue(encoder.encode(`${lines.join("\n")}\n\n`));
      if ((controller.desiredSize ?? 0) < -waitingAtMost) close();
    },
    close,
  };
}
