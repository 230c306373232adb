import { type LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { DaleError } from "../../errors/index.js";
import { isGlobalAddress } from "./address.js";

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

/** @throws DaleError `config_invalid` for an entry that is neither a host nor a network */
export function createEgress({ allow = [], resolve = resolveAll }: EgressOptions): Egress {
  const entries = allow.map((entry) => entry.trim().toLowerCase());
  const hosts = new Set(entries.filter((entry) => !entry.includes("/")).map(hostForm));
  const networks = { ipv4: networksOf(entries, "ipv4"), ipv6: networksOf(entries, "ipv6") };
  const exempt = (url: URL): boolean => hosts.has(url.hostname) || hosts.has(`${url.hostname}:${portOf(url)}`);
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

/** A host as a URL writes it, and its port where one is given. */
function hostForm(entry: string): string {
  const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  if (!URL.canParse(`http://${name}`) || Number(port ?? 0) > 65_535) throw unfit(entry);
  const { hostname } = new URL(`http://${name}`);
  return port === undefined ? hostname : `${hostname}:${Number(port)}`;
}

function networksOf(entries: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const entry of entries.filter((one) => one.includes("/") && one.includes(":") === (family === "ipv6"))) {
    const [net = "", bits = ""] = entry.split("/");
    if (!/^\d+$/.test(bits)) throw unfit(entry);
    try {
      list.addSubnet(net, Number(bits), family);
    } catch {
      throw unfit(entry);
    }
  }
  return list;
}

function unfit(entry: string): DaleError {
  return new DaleError("config_invalid", `egress.allow: ${entry.slice(0, 100)} is neither a host nor a network`);
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
