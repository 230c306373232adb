import { type LookupAddress, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isGlobalAddress, listOf } from "./address.js";

export interface EgressOptions {
  /**
   * What guarded calls may reach although it is not public: `host`, `host:port`, `[::1]:8080`, or a network such as
   * `10.1.0.0/16`, which also covers names that resolve into it. Default: nothing.
   */
  readonly allow?: readonly string[];
  /** Every address of a name. Default: the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>;
}

/** The address is not on the public internet, or cannot be judged. */
export class AddressRefused extends Error {
  constructor() {
    super("the host is not public");
    this.name = "AddressRefused";
  }
}

export interface Egress {
  /** @throws AddressRefused when the host is itself an address that may not be reached */
  admit(url: URL): void;
  /**
   * The lookup of a connection to `url`: resolves once, judges every address, and hands the connection exactly the
   * addresses that were judged, so that a name cannot be pointed elsewhere in between. Undefined where none is needed.
   */
  lookupFor(url: URL): LookupFunction | undefined;
}

export function createEgress({ allow = [], resolve = resolveAll }: EgressOptions): Egress {
  const entries = allow.map((entry) => entry.trim().toLowerCase());
  const hosts = new Set(entries.filter((entry) => !entry.includes("/")));
  const networks = {
    ipv4: listOf(
      entries.filter((entry) => entry.includes("/") && !entry.includes(":")),
      "ipv4",
    ),
    ipv6: listOf(
      entries.filter((entry) => entry.includes("/") && entry.includes(":")),
      "ipv6",
    ),
  };
  const exempt = (url: URL): boolean =>
    [url.hostname, bare(url.hostname), `${url.hostname}:${portOf(url)}`].some((form) => hosts.has(form));
  const reachable = (address: string): boolean => {
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    return isGlobalAddress(address) || (isIP(address) !== 0 && networks[family].check(address, family));
  };
  return {
    admit(url) {
      const host = bare(url.hostname);
      if (isIP(host) !== 0 && !exempt(url) && !reachable(host)) throw new AddressRefused();
    },
    lookupFor(url) {
      if (exempt(url)) return undefined;
      return (hostname, options, callback) => {
        resolve(hostname).then(
          (addresses) => {
            const [first] = addresses;
            if (first === undefined || !addresses.every(({ address }) => reachable(address))) {
              callback(new AddressRefused(), "", 0);
            } else if (options.all) {
              callback(null, [...addresses]);
            } else {
              callback(null, first.address, first.family);
            }
          },
          (cause: NodeJS.ErrnoException) => callback(cause, "", 0),
        );
      };
    },
  };
}

/** A URL's host name without the brackets of an IPv6 address. */
export function bare(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

function portOf(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}

function resolveAll(hostname: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });
}
