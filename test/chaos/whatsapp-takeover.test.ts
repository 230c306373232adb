import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually, type Gateway } from "../fixtures/gateway.js";
import { startWhatsappSite, type WhatsappSite } from "../fixtures/whatsapp-site.js";

const rounds = 25;
const linesOfARound = 4;

let site: WhatsappSite;
let owner: Gateway;

beforeAll(async () => {
  site = await startWhatsappSite();
  owner = await site.startHolder();
  site.web.scan(await eventually(async () => (await site.account())?.qr));
  await eventually(async () => (await site.account())?.state === "open");
}, 60_000);
afterAll(async () => {
  await owner.stop();
  await site.close();
}, 60_000);

it("hears every line once and in order, and sends nothing unreadable, though who holds the account is killed again and again", async () => {
  const { web, model } = site;
  const beto = web.contact("Beto");
  const texts: string[] = [];
  const heard = () => model.requests.map(({ user }) => user).filter((user, n, all) => all.indexOf(user) === n);
  const logins = () => web.logins.length;
  let clock = Math.floor(Date.now() / 1000) - 2 * rounds * linesOfARound;
  /** Nobody types two lines within a second, by WhatsApp's clock: it knows no order within one. */
  async function write(text: string) {
    texts.push(text);
    await beto.writes(text, { at: ++clock });
    if (Math.random() < 0.3) await sleep(Math.random() * 30);
  }

  await write("hello");
  await eventually(() => heard().length === 1);
  for (let round = 0; round < rounds; round++) {
    const before = logins();
    for (let n = 0; n < linesOfARound; n++) await write(`line ${round}.${n}`);
    // Now while it reads, now while it answers, now when it is done.
    await sleep(Math.random() < 0.5 ? Math.random() * 40 : Math.random() * 500);
    const [next] = await Promise.all([site.startHolder(), owner.kill()]);
    owner = next;
    await eventually(() => logins() > before, 60_000);
    await eventually(() => heard().length === texts.length, 60_000);
    expect(heard()).toEqual(texts);
    expect(web.failures).toEqual([]);
  }
});
