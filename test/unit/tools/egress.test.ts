import { describe, expect, it } from "vitest";
import { AddressRefused, createEgress } from "../../../src/agents/tools/egress.js";
import { DaleError } from "../../../src/errors/index.js";

describe("what the operator allows", () => {
  it.each([
    ["127.0.0.1", "http://127.0.0.1:9100/x"],
    ["127.0.0.1:9100", "http://127.0.0.1:9100/x"],
    ["127.0.0.1:80", "http://127.0.0.1/x"],
    ["10.0.0.7:443", "https://10.0.0.7/x"],
    ["127.0.0.0/8", "http://127.9.9.9/x"],
    ["::1", "http://[::1]:9100/x"],
    ["[::1]", "http://[0:0:0:0:0:0:0:1]:9100/x"],
    ["[0:0:0:0:0:0:0:1]:9100", "http://[::1]:9100/x"],
    ["fd00::/8", "http://[fd00::7]/x"],
    [" 127.0.0.1 ", "http://127.0.0.1/x"],
  ])("%s admits %s", (entry, url) => {
    expect(() => createEgress({ allow: [entry] }).admit(new URL(url))).not.toThrow();
  });

  it.each([
    ["127.0.0.1:9100", "http://127.0.0.1:9101/x"],
    ["127.0.0.1:443", "http://127.0.0.1/x"],
    ["127.0.0.0/30", "http://127.0.0.4/x"],
    ["fd00::/16", "http://[fd01::7]/x"],
    ["10.0.0.0/8", "http://[::ffff:192.168.0.1]/x"],
    ["localhost", "http://127.0.0.1/x"],
  ])("%s does not admit %s", (entry, url) => {
    expect(() => createEgress({ allow: [entry] }).admit(new URL(url))).toThrow(AddressRefused);
  });

  it("names hosts without regard to case, and spares them the judgement of their addresses", () => {
    const egress = createEgress({ allow: ["ERP.Intern:8080"] });
    expect(egress.lookupFor(new URL("http://erp.intern:8080"))).toBeUndefined();
    expect(egress.lookupFor(new URL("http://erp.intern:8081"))).toBeDefined();
    expect(egress.lookupFor(new URL("http://erp.intern.example:8080"))).toBeDefined();
  });

  it.each(["10.0.0.0/99", "10.0.0.0/", "nonsense/8", "fd00::/200", "host:99999", "a b"])(
    "is refused at boot: %s",
    (entry) => {
      expect(() => createEgress({ allow: [entry] })).toThrow(DaleError);
    },
  );
});

describe("the lookup of a guarded connection", () => {
  it.each([
    ["one that is not public", ["10.0.0.1"], false],
    ["a public one and one that is not", ["93.184.215.14", "10.0.0.1"], false],
    ["none", [], false],
    ["one with a zone", ["fe80::1%eth0"], false],
    ["public ones", ["93.184.215.14", "2606:4700::1111"], true],
  ])("of a name with %s", async (_what, addresses, passes) => {
    const resolve = async () => addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    const lookup = createEgress({ resolve }).lookupFor(new URL("http://tenant.example"));
    const found = await new Promise<unknown>((done) => {
      lookup?.("tenant.example", { all: true }, (error, given) => done(error ?? given));
    });
    if (passes) expect(found).toEqual(await resolve());
    else expect(found).toBeInstanceOf(AddressRefused);
  });

  it("gives one address where the connection asks for one", async () => {
    const resolve = async () => [{ address: "93.184.215.14", family: 4 }];
    const lookup = createEgress({ resolve }).lookupFor(new URL("http://tenant.example"));
    const found = await new Promise<unknown>((done) => {
      lookup?.("tenant.example", {}, (_error, address, family) => done([address, family]));
    });
    expect(found).toEqual(["93.184.215.14", 4]);
  });
});
