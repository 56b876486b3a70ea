import { promises as dns } from 'node:dns';

/** Resolves a name to all its addresses, IPv4 first; rejects when there are none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

export interface DnsLookup {
  /** Queries DNS. */
  readonly now: Lookup;
  /** Answers from memory as long as the records allow, at most 30 s. */
  readonly cached: Lookup;
}

const DNS_TIMEOUT_MS = 2_500;
const MAX_CACHED_MS = 30_000;
/** Names in memory, each of which takes a few hundred bytes. */
const MAX_NAMES = 20_000;

interface Answer {
  readonly addresses: readonly string[];
  readonly validUntilMs: number;
}

/**
 * Looks up names by DNS only. Unlike getaddrinfo it occupies no thread of the pool, so a hanging DNS server cannot delay
 * other merchants. It ignores the hosts file and search domains.
 * @param servers `address:port` of DNS servers; undefined for the machine's.
 */
export function createDnsLookup(servers: readonly string[] | undefined): DnsLookup {
  const cache = new Map<string, Answer>();
  const pending = new Map<string, Promise<Answer>>();
  const queryOnce = (name: string) => {
    const answer = pending.get(name) ?? query(name, servers).finally(() => pending.delete(name));
    pending.set(name, answer);
    return answer;
  };
  return {
    now: async (name) => (await query(name, servers)).addresses,
    async cached(name) {
      const cached = cache.get(name);
      if (cached && performance.now() < cached.validUntilMs) return cached.addresses;
      const answer = await queryOnce(name);
      // Moves the name to the end of the insertion order.
      cache.delete(name);
      cache.set(name, answer);
      if (cache.size > MAX_NAMES) cache.delete(cache.keys().next().value!);
      return answer.addresses;
    },
  };
}

async function query(name: string, servers: readonly string[] | undefined): Promise<Answer> {
  const startedAtMs = performance.now();
  // One resolver per lookup, so that changes of the machine's DNS servers take effect.
  const resolver = new dns.Resolver({ timeout: 1000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  // Some servers never respond for one address family; the other one is enough then.
  const timeout = setTimeout(() => resolver.cancel(), DNS_TIMEOUT_MS);
  const results = await Promise.allSettled([
    resolver.resolve4(name, { ttl: true }),
    resolver.resolve6(name, { ttl: true }),
  ]);
  clearTimeout(timeout);
  const records = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  if (records.length === 0) throw results.find((result) => result.status === 'rejected')?.reason;
  const validMs = Math.min(MAX_CACHED_MS, ...records.map(({ ttl }) => ttl * 1_000));
  return { addresses: records.map(({ address }) => address), validUntilMs: startedAtMs + validMs };
}
