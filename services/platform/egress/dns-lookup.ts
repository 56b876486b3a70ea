import { promises as dns } from 'node:dns';

/** Resolves a name to all its addresses, IPv4 first; rejects when there are none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

/** Looks up names in DNS. */
export interface DnsLookup {
  /** Asks DNS. */
  readonly now: Lookup;
  /** Answers from memory as long as the records allow, at most 30 s. */
  readonly cached: Lookup;
}

const DNS_TIMEOUT_MS = 2_500;
const MAX_KEPT_MS = 30_000;
/** Names in memory, each of which takes a few hundred bytes. */
const MAX_NAMES = 20_000;

interface Found {
  readonly addresses: readonly string[];
  readonly untilMs: number;
}

/**
 * Looks up names by DNS only. Unlike getaddrinfo it occupies no thread of the pool, so a hanging DNS server cannot delay
 * other merchants. It ignores the hosts file and search domains.
 * @param servers `address:port` of DNS servers instead of the machine's.
 */
export function createDnsLookup(servers?: readonly string[]): DnsLookup {
  const found = new Map<string, Found>();
  const asking = new Map<string, Promise<Found>>();
  const askOnce = (name: string) => {
    const asked = asking.get(name) ?? ask(name, servers).finally(() => asking.delete(name));
    asking.set(name, asked);
    return asked;
  };
  return {
    now: async (name) => (await ask(name, servers)).addresses,
    async cached(name) {
      const kept = found.get(name);
      if (kept && performance.now() < kept.untilMs) return kept.addresses;
      const latest = await askOnce(name);
      // Moves the name to the end of the insertion order.
      found.delete(name);
      found.set(name, latest);
      if (found.size > MAX_NAMES) found.delete(found.keys().next().value!);
      return latest.addresses;
    },
  };
}

async function ask(name: string, servers: readonly string[] | undefined): Promise<Found> {
  const askedAtMs = performance.now();
  // One resolver per lookup, so that changes of the machine's DNS servers take effect.
  const resolver = new dns.Resolver({ timeout: 1000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  // Some servers never respond for one address family; the other one is enough then.
  const timeout = setTimeout(() => resolver.cancel(), DNS_TIMEOUT_MS);
  const answers = await Promise.allSettled([
    resolver.resolve4(name, { ttl: true }),
    resolver.resolve6(name, { ttl: true }),
  ]);
  clearTimeout(timeout);
  const records = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (records.length === 0) throw answers.find((answer) => answer.status === 'rejected')?.reason;
  const keptMs = Math.min(MAX_KEPT_MS, ...records.map(({ ttl }) => ttl * 1_000));
  return { addresses: records.map(({ address }) => address), untilMs: askedAtMs + keptMs };
}
