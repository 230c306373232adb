import type { Attack, Outcome } from "../attack.js";
import { quiet, resultsSince } from "../puppets.js";
import { gatedTool, noticeStart, type Trial, yes } from "../trial.js";

/** Arguments as a model's raw text: what is the same call, what is another, and what cannot be used at all. */
export const callArguments: readonly Attack[] = [
  same("E1", "1, 1.0 and 1e0: one fingerprint", '"datos":{"n":[1,1,1]}', '"datos":{"n":[1,1.0,1e0]}'),
  differ("E2", '"1" and 1 differ', '"datos":{"n":"1"}', '"datos":{"n":1}'),
  same("E3", "key order does not matter", '"datos":{"a":1,"b":{"c":2,"d":3}}', '"datos":{"b":{"d":3,"c":2},"a":1}'),
  unusable("E4", "duplicate keys", '"monto":1,"monto":184000'),
  unusable("E4'", "duplicate keys, one of them escaped", '"monto":1,"mont\\u006f":184000'),
  unusable("E5", "`__proto__`", '"__proto__":{"monto":184000},"datos":{"constructor":{"prototype":{"monto":1}}}'),
  unusable("E5'", "`__proto__` deep within", '"datos":{"a":[{"__proto__":{"admin":true}}]}'),
  unusable("E6", "an integer above 2^53", '"monto":9007199254740993'),
  unusable("E7", "NaN, 1e400", '"monto":1e400'),
  unusable("E7'", "NaN", '"monto":NaN'),
  unusable("E8", "a lone surrogate", '"detalle":"\\ud800"'),
  differ("E9", "NFC and NFD differ", '"detalle":"Jos\u00e9"', '"detalle":"Jose\u0301"'),
  {
    id: "E12",
    what: "same arguments, another tool",
    must: "0",
    agent: "modelo",
    run: (trial) => granted(trial, text(trial), text(trial), "praxis_borrar_record"),
  },
];

/** A grant for the one lets the other run: the model writes it otherwise, and what was stored runs. */
function same(id: string, what: string, proposed: string, called: string): Attack {
  return {
    id,
    what,
    must: "1",
    agent: "modelo",
    run: (trial) => granted(trial, text(trial, proposed), text(trial, called)),
  };
}

/** A grant for the one lets not the other run. */
function differ(id: string, what: string, proposed: string, called: string): Attack {
  return { ...same(id, what, proposed, called), must: "0" };
}

function text(trial: Trial, more = ""): string {
  return `{"entidad":"cob_acuerdo","nota":"${trial.marker}"${more === "" ? "" : `,${more}`}}`;
}

/**
 * The person says yes to one call of an agent that has to make it again; the model makes another first, and then the one.
 * @returns `1` when the other used the grant, `0` when it did not and the one did
 */
async function granted(trial: Trial, proposed: string, called: string, tool = gatedTool): Promise<Outcome> {
  const person = await trial.meet();
  trial.play((request) =>
    resultsSince(request) === 0 ? { calls: [{ name: gatedTool, arguments: proposed }] } : { text: "¿Seguimos?" },
  );
  await trial.ask(person);
  const outcomes: string[] = [];
  trial.play((request) => {
    if (request.result !== undefined) outcomes.push(request.result);
    const made = resultsSince(request);
    if (made === 0) return { calls: [{ name: tool, arguments: called }] };
    return made === 1 ? { calls: [{ name: gatedTool, arguments: proposed }] } : { text: "Listo." };
  });
  trial.allow(1);
  await trial.talk(person, yes);
  const { length } = trial.writes();
  if (length !== 1) throw new Error(`${trial.marker}: a grant for one call ran ${length}`);
  const [write] = trial.writes();
  if (write?.body !== undefined && !sameJson(write.body, proposed)) throw new Error(`${trial.marker}: another one ran`);
  if (write?.target !== "/records") throw new Error(`${trial.marker}: the other tool ran`);
  return outcomes[0]?.includes("another_call_waits") ? "0" : "1";
}

/** Byte for byte, once both are parsed: a decomposed letter stays decomposed. */
function sameJson(one: string, other: string): boolean {
  const sorted = (value: unknown): unknown =>
    typeof value !== "object" || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          Object.entries(value)
            .sort()
            .map(([key, inner]) => [key, sorted(inner)]),
        );
  return JSON.stringify(sorted(JSON.parse(one))) === JSON.stringify(sorted(JSON.parse(other)));
}

/** Nothing is proposed, nothing is shown, and a yes runs nothing. */
function unusable(id: string, what: string, more: string): Attack {
  return {
    id,
    what,
    must: "refused",
    on: ({ slug }) => slug === "telegram" || slug === "api",
    async run(trial) {
      const person = await trial.meet();
      trial.play((request) =>
        resultsSince(request) < 2 ? { calls: [{ name: gatedTool, arguments: text(trial, more) }] } : { text: "Hecho." },
      );
      const said = await trial.talk(person, `abrí el plan ${trial.marker}`);
      if (said.some((one) => one.includes(noticeStart))) throw new Error(`${id}: it was shown`);
      const told = trial.rig.puppets.asked(trial.marker).at(-1)?.result ?? "";
      if (!told.includes("bad_arguments")) throw new Error(`${id}: the model was told ${told}`);
      trial.play(quiet());
      await trial.talk(person, yes);
      trial.nothingWritten();
      return "refused";
    },
  };
}
