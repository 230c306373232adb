import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";

/** A redis-server in a child process that does not outlive us. */
export interface GuardedServer {
  readonly exited: Promise<void>;
  /** Its exit code, null when a signal ended it, undefined while it lives. */
  status(): number | null | undefined;
  /** What it printed last, for error messages. */
  lastWords(): string;
  stop(): Promise<void>;
}

/**
 * The server runs under a shell that waits for it, and beside it a reader whose pipe leads to us: when we are gone, and be
 * it by SIGKILL, the pipe closes and the reader ends the server. Shell and server are a process group of their own, so
 * that Ctrl-C in a terminal reaches us first, and we can drain before the store goes.
 */
const guard = `
exec 3<&0
"$@" 3<&- </dev/null &
server=$!
(
  while read -r _ <&3; do :; done
  kill -TERM "$server" 2>/dev/null
  tries=0
  while [ "$tries" -lt 300 ] && kill -0 "$server" 2>/dev/null; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL "$server" 2>/dev/null
) >/dev/null 2>&1 &
reader=$!
exec 3<&-
trap 'kill -TERM "$server" 2>/dev/null' TERM
wait "$server"
status=$?
while kill -0 "$server" 2>/dev/null; do wait "$server"; status=$?; done
kill -KILL "$reader" 2>/dev/null
exit "$status"
`;

/** @param program looked for in PATH; exits with 127 when it is not there */
export function startGuardedServer(program: string, args: readonly string[]): GuardedServer {
  const shell: ChildProcess = spawn("/bin/sh", ["-c", guard, "dale-redis", program, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  let words = "";
  const hear = (chunk: Buffer) => {
    words = (words + chunk.toString("utf8")).slice(-2000);
  };
  shell.stdout?.on("data", hear);
  shell.stderr?.on("data", hear);
  shell.stdin?.on("error", () => undefined);
  let status: number | null | undefined;
  const exited = new Promise<void>((resolve) => {
    const over = (code: number | null) => {
      status = code;
      // Should the shell itself have been killed, its server must not outlive it.
      if (shell.pid !== undefined) killGroup(shell.pid);
      resolve();
    };
    shell.once("exit", over);
    shell.once("error", () => over(null));
  });
  return {
    exited,
    status: () => status,
    lastWords: () => words,
    async stop() {
      shell.stdin?.end();
      await exited;
    },
  };
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // The group is empty: nothing was left.
  }
}

/** Who listens on the socket: nobody, a server that is not ready (it reads its file, or hangs), or one that serves. */
export async function answerOf(socket: string): Promise<"absent" | "busy" | "serving"> {
  const reply = await ask(socket, "PING\r\n");
  if (reply === undefined) return "absent";
  return reply.startsWith("+PONG") ? "serving" : "busy";
}

/** One inline command; the first bytes of its reply, "" when none came within a second, undefined when nobody listens. */
export function ask(socket: string, command: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    let connected = false;
    const settle = (reply: string | undefined) => {
      probe.destroy();
      resolve(reply);
    };
    probe.setTimeout(1000, () => settle(connected ? "" : undefined));
    probe.once("connect", () => {
      connected = true;
      probe.write(command);
    });
    probe.once("data", (chunk) => settle(chunk.toString("latin1")));
    probe.once("close", () => settle(connected ? "" : undefined));
    probe.once("error", () => settle(connected ? "" : undefined));
  });
}
