import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isGlobalAddress } from "../../../src/agents/tools/address.js";

const global = [
  "1.1.1.1",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.1",
  "169.253.255.255",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.1",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2001:4860:4860::8888",
  "2606:4700:4700::1111",
  "2001:200::1",
  "2a00::1",
  "::ffff:8.8.8.8",
  "::ffff:808:808",
  "64:ff9b::8.8.8.8",
  "64:ff9b::808:808",
];

const special = [
  ["this network", "0.0.0.0"],
  ["this network", "0.1.2.3"],
  ["private", "10.0.0.1"],
  ["private", "10.255.255.255"],
  ["shared", "100.64.0.1"],
  ["shared", "100.127.255.255"],
  ["loopback", "127.0.0.1"],
  ["loopback", "127.255.255.254"],
  ["link local, cloud metadata", "169.254.169.254"],
  ["private", "172.16.0.1"],
  ["private", "172.31.255.255"],
  ["protocol assignments", "192.0.0.1"],
  ["documentation", "192.0.2.1"],
  ["6to4 relay", "192.88.99.1"],
  ["private", "192.168.0.1"],
  ["benchmarking", "198.18.0.1"],
  ["benchmarking", "198.19.255.255"],
  ["documentation", "198.51.100.1"],
  ["documentation", "203.0.113.1"],
  ["multicast", "224.0.0.1"],
  ["multicast", "239.255.255.255"],
  ["reserved", "240.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["unspecified", "::"],
  ["loopback", "::1"],
  ["IPv4-compatible", "::8.8.8.8"],
  ["mapped loopback", "::ffff:127.0.0.1"],
  ["mapped loopback, in hexadecimal", "::ffff:7f00:1"],
  ["mapped private", "::ffff:10.0.0.1"],
  ["mapped, spelled out", "0:0:0:0:0:ffff:c0a8:0001"],
  ["IPv4-translated", "::ffff:0:8.8.8.8"],
  ["NAT64 of loopback", "64:ff9b::127.0.0.1"],
  ["NAT64 of metadata", "64:ff9b::a9fe:a9fe"],
  ["NAT64 of nothing", "64:ff9b::"],
  ["NAT64 for local use", "64:ff9b:1::8.8.8.8"],
  ["discard", "100::1"],
  ["Teredo", "2001::1"],
  ["Teredo", "2001:0:53aa:64c::1"],
  ["benchmarking", "2001:2::1"],
  ["ORCHID", "2001:10::1"],
  ["ORCHIDv2", "2001:20::1"],
  ["documentation", "2001:db8::1"],
  ["documentation", "3fff::1"],
  ["6to4", "2002:808:808::1"],
  ["6to4 of private", "2002:a00:1::"],
  ["segment routing", "5f00::1"],
  ["unique local", "fc00::1"],
  ["unique local", "fd12:3456::1"],
  ["link local", "fe80::1"],
  ["link local with a zone", "fe80::1%eth0"],
  ["global with a zone", "2606:4700:4700::1111%eth0"],
  ["site local", "fec0::1"],
  ["multicast", "ff02::1"],
] as const;

describe("a global address", () => {
  it.each(global)("is %s", (address) => {
    expect(isGlobalAddress(address)).toBe(true);
  });

  it.each(special)("is not one of %s: %s", (_range, address) => {
    expect(isGlobalAddress(address)).toBe(false);
  });

  it.each(["", "localhost", "8.8.8", "8.8.8.8.8", "0x8080808", "[::1]", "8.8.8.8:80", " 8.8.8.8"])(
    "is not what is no address: %j",
    (text) => {
      expect(isGlobalAddress(text)).toBe(false);
    },
  );

  it("is one mapped into IPv6, or behind NAT64, exactly when the IPv4 address inside is", () => {
    const bytes = fc.tuple(...[0, 1, 2, 3].map(() => fc.integer({ min: 0, max: 255 })));
    fc.assert(
      fc.property(bytes, ([a = 0, b = 0, c = 0, d = 0]) => {
        const inside = isGlobalAddress(`${a}.${b}.${c}.${d}`);
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        for (const outside of [`::ffff:${a}.${b}.${c}.${d}`, `::ffff:${hex}`, `64:ff9b::${hex}`]) {
          expect(isGlobalAddress(outside), outside).toBe(inside);
        }
      }),
      { numRuns: 500 },
    );
  });
});
