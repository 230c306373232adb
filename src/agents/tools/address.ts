import { BlockList, isIP } from "node:net";

/** Ranges of the IANA special-purpose registries that are no place on the public internet, and multicast. */
const specialIPv4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/**
 * Within 2000::/3, the only global unicast space: protocol assignments (Teredo, ORCHID, benchmarking), documentation,
 * and 6to4, whose inner IPv4 address is reached through relays that nobody vouches for.
 */
const specialIPv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const special4 = listOf(specialIPv4, "ipv4");
const special6 = listOf(specialIPv6, "ipv6");
const unicast6 = listOf(["2000::/3"], "ipv6");
const mapped = listOf(["::ffff:0:0/96"], "ipv6");
const nat64 = listOf(["64:ff9b::/96"], "ipv6");

/**
 * Whether an address is a place on the public internet, whoever may answer there. IPv4-mapped addresses and those of
 * NAT64's well-known prefix (RFC 6052) are judged by the IPv4 address inside; an address with a zone is never global.
 */
export function isGlobalAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special4.check(address, "ipv4");
    case 6: {
      if (address.includes("%")) return false;
      if (mapped.check(address, "ipv6") || nat64.check(address, "ipv6")) return isGlobalAddress(lastFourBytes(address));
      return unicast6.check(address, "ipv6") && !special6.check(address, "ipv6");
    }
    default:
      return false;
  }
}

/** The IPv4 address in the last 32 bits. URL's parser writes every IPv6 address in one form, with hexadecimal groups. */
function lastFourBytes(address: string): string {
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const tail = (groups.at(-1) ?? "").split(":").filter((group) => group !== "");
  const low = Number.parseInt(tail.at(-1) ?? "0", 16);
  const high = tail.length > 1 ? Number.parseInt(tail.at(-2) ?? "0", 16) : 0;
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function listOf(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = "", bits = ""] = range.split("/");
    list.addSubnet(net, Number(bits), family);
  }
  return list;
}
