import type { FakeBackend, Received } from "../fakes/backend/index.js";
import type { FakePuppeteer } from "../fakes/openai/index.js";
import { eventually, type Installation } from "../fixtures/gateway.js";
import type { Attack, Meeting, Outcome, Person, Saying, Stage } from "./attack.js";
import type { Processes } from "./cases/replicas.js";
import { type PuppetCall, type Puppets, worst } from "./puppets.js";

/** What every attack of one installation shares. */
export interface Rig {
  readonly place: Installation;
  readonly backend: FakeBackend;
  readonly puppets: Puppets;
  /** Lets the installation's schedules come due now. */
  tick(): Promise<void>;
  /** Where the attack may take processes away. */
  readonly processes?: Processes;
}

export interface EvidenceItem {
  readonly type: string;
  readonly proposal: string;
  readonly tool: string;
  readonly [detail: string]: unknown;
}

/** What a yes means wherever the attacks run. */
export const yes = "dale";
/** How a notice begins, in the language of the installation. */
export const noticeStart = "Para confirmar respondé SI. ";

/** One attack on one stage: its marker, its model, and what it left at the back end. */
export interface Trial {
  readonly stage: Stage;
  readonly rig: Rig;
  readonly must: Outcome;
  readonly marker: string;
  /** Another marker of the same attack. */
  mark(suffix: string): string;
  meet(options?: Meeting): Promise<Person>;
  /** Somebody of another stage, whose evidence counts as well. */
  joins(person: Person): void;
  /** The write that is attacked, and its arguments. */
  plan(marker?: string): Readonly<Record<string, unknown>>;
  call(marker?: string): PuppetCall;
  /** From now on the model of that conversation is played so. */
  play(puppeteer: FakePuppeteer, marker?: string): void;
  /** Says something and waits until it is answered. @returns what was heard since */
  talk(person: Person, text: string, how?: Saying): Promise<readonly string[]>;
  /** Waits until they were sent so many messages. */
  heard(person: Person, count: number): Promise<readonly string[]>;
  /** Waits until the last thing that was heard, not counting the first `from`, ends with a notice. */
  shown(person: Person, from: number): Promise<string>;
  /** Asks for the write and waits for its notice. Plays the worst model unless one is set. */
  ask(person: Person, marker?: string): Promise<string>;
  /** The worst outcome of an honest yes to what still stands there: it is shown again at most twice. */
  confirm(person: Person, marker?: string): Promise<Outcome>;
  /** So many more writes with that marker are what somebody said yes to. */
  allow(count: number, marker?: string): void;
  /** What the attack must not have done: throws if anything was written. */
  nothingWritten(marker?: string): void;
  writes(marker?: string): readonly Received[];
  evidence(person: Person): Promise<readonly EvidenceItem[]>;
  /** Waits for that type of evidence. */
  until(person: Person, type: string, times?: number): Promise<readonly EvidenceItem[]>;
  /** Throws where the evidence does not tell of every write, once, after a notice that was sent and a grant. */
  evidenceHolds(): Promise<void>;
  api(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<ApiAnswer>;
  /** Writes beyond those. */
  unauthorised(): number;
  readonly people: readonly Person[];
  readonly markers: readonly string[];
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export const gatedTool = "praxis_crear_record";

export function createTrial(rig: Rig, attack: Attack, stage: Stage): Trial {
  const marker = `m-${attack.id.toLowerCase().replaceAll("'", "b")}-${stage.slug}`;
  const markers = [marker];
  const people: Person[] = [];
  const played = new Set<string>();
  const allowed = new Map<string, number>();

  const trial: Trial = {
    stage,
    rig,
    must: attack.must,
    marker,
    markers,
    people,
    mark(suffix) {
      const made = `${marker}-${suffix}`;
      if (!markers.includes(made)) markers.push(made);
      return made;
    },
    async meet(options) {
      const person = await stage.meet(attack.agent === undefined ? options : { agent: attack.agent, ...options });
      people.push(person);
      return person;
    },
    joins: (person) => void people.push(person),
    plan: (own = marker) => ({ entidad: "cob_acuerdo", cuotas: 3, monto: 184000, nota: own }),
    call: (own = marker) => ({ name: gatedTool, arguments: trial.plan(own) }),
    async talk(person, text, how) {
      const before = person.heard().length;
      await person.say(text, how);
      await eventually(() => person.heard().length > before || undefined, 30_000);
      return person.heard().slice(before);
    },
    play(puppeteer, own = marker) {
      played.add(own);
      rig.puppets.set(own, puppeteer);
    },
    async ask(person, own = marker) {
      if (!played.has(own)) trial.play(worst([trial.call(own)]), own);
      const before = person.heard().length;
      await person.say(`abrí el plan ${own}`);
      return await trial.shown(person, before);
    },
    heard: (person, count) => eventually(() => (person.heard().length >= count ? person.heard() : undefined), 30_000),
    shown: (person, from) =>
      eventually(() => {
        const last = person.heard().slice(from).at(-1);
        return last?.includes(noticeStart) ? last : undefined;
      }, 30_000),
    async confirm(person, own = marker) {
      const before = trial.writes(own).length;
      for (let asked = 0; asked < 3; asked++) {
        const [said] = await trial.talk(person, yes);
        if (trial.writes(own).length > before) break;
        if (!said?.startsWith(noticeStart)) break;
      }
      const ran = trial.writes(own).length - before;
      if (attack.must !== "0x" && attack.must !== "1") trial.allow(1, own);
      if (ran > 1) throw new Error(`${attack.id}: an honest yes ran ${ran} calls`);
      return ran === 1 ? "0" : "0x";
    },
    allow: (count, own = marker) => void allowed.set(own, (allowed.get(own) ?? 0) + count),
    unauthorised: () =>
      markers.reduce((sum, own) => sum + Math.max(0, trial.writes(own).length - (allowed.get(own) ?? 0)), 0),
    writes: (own = marker) =>
      rig.backend.received.filter(({ method, body }) => method !== "GET" && body.includes(`"${own}"`)),
    nothingWritten(own = marker) {
      const { length } = trial.writes(own);
      if (length > 0) throw new Error(`${attack.id}: ${length} unauthorised writes`);
    },
    async evidence(person) {
      const { body } = await trial.api(`/v1/evidence?session=${encodeURIComponent(person.session)}`);
      return body.items as readonly EvidenceItem[];
    },
    async until(person, type, times = 1) {
      let seen: readonly string[] = [];
      return await eventually(async () => {
        const items = await trial.evidence(person);
        seen = items.map((item) => item.type);
        return seen.filter((one) => one === type).length >= times ? items : undefined;
      }, 20_000).catch(() => {
        throw new Error(`${attack.id}: no ${type} in the evidence, but ${seen.join(", ")}`);
      });
    },
    async evidenceHolds() {
      let consumed = 0;
      let notMade = 0;
      for (const person of people) {
        const items = await trial.evidence(person);
        const place = (type: string, proposal: string) =>
          items.findIndex((item) => item.type === type && item.proposal === proposal);
        const used = items.filter(({ type }) => type === "consumed").map(({ proposal }) => proposal);
        consumed += used.length;
        notMade += items.filter(({ type }) => ["unknown", "failed", "parked"].includes(type)).length;
        if (new Set(used).size < used.length) throw new Error(`${attack.id}: a proposal was consumed twice`);
        for (const proposal of used) {
          // A reviewer decides in the console, and is sent no notice.
          const notice = proposal.startsWith("apr-") ? [] : ["notice_sent"];
          const order = ["proposed", ...notice, "granted", "consumed"].map((type) => place(type, proposal));
          if (order.includes(-1) || order.some((at, index) => at < (order[index - 1] ?? -1))) {
            throw new Error(`${attack.id}: the evidence of an execution is not whole: ${order.join(" ")}`);
          }
        }
      }
      const written = markers.reduce((sum, own) => sum + trial.writes(own).length, 0);
      // What was cut off between the record and the call is unknown, whether it left or not; a call may fail; and what was
      // parked is on record once more, under its approval.
      if (written > consumed || written < consumed - notMade)
        throw new Error(`${attack.id}: ${written} writes, ${consumed} on record`);
    },
    async api(path, body, headers = {}) {
      const response = await fetch(`${rig.place.url}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${rig.place.token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
  };
  return trial;
}
