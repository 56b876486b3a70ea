import { promises as dns } from 'node:dns';
import { setTimeout as delay } from 'node:timers/promises';
import type { AddressPolicy } from './address-policy.ts';
import { EgressError } from './egress-error.ts';
import type { Host } from './host.ts';

/** Every address of a name, IPv4 first; rejects when there is none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

const DNS_PATIENCE_MS = 2500;

export interface HostResolverDeps {
  readonly addresses: AddressPolicy;
  /** Asked for ordinary names. */
  readonly dnsLookup: Lookup;
  /** Asked for special-use names, which are tried only where an allow-list is set. */
  readonly systemLookup: Lookup;
}

/** A host's addresses, each of them judged and fit to be dialled. Rejects with an EgressError, DNS or EGRESS_DENIED. */
export type HostResolver = (host: Host) => Promise<readonly string[]>;

/** The one place where a host becomes addresses, at creation and at connection: one bad address refuses all. */
export function createHostResolver({ addresses, dnsLookup, systemLookup }: HostResolverDeps): HostResolver {
  return async (host) => {
    if (host.kind === 'ADDRESS') {
      if (addresses.judge(host.address) === 'FORBIDDEN') throw denied(`${host.address} is not public`);
      return [host.address];
    }
    if (host.specialUse && !addresses.hasExemptions) throw denied(`${host.name} is a special-use name`);
    const found = await ask(host.specialUse ? systemLookup : dnsLookup, host.name);
    for (const address of found) {
      const verdict = addresses.judge(address);
      if (verdict === 'FORBIDDEN' || (host.specialUse && verdict !== 'EXEMPT')) {
        throw denied(`${host.name} resolves to ${address}`);
      }
    }
    return found;
  };
}

/**
 * A lookup by DNS alone. Unlike getaddrinfo it holds no thread of the pool, so names whose servers hang
 * delay no other merchant's; it reads no hosts file and appends no search domain.
 * @param servers `address:port` of DNS servers instead of the machine's.
 */
export function createDnsLookup(servers?: readonly string[]): Lookup {
  return async (name) => {
    // One per question, so that a change of the machine's servers is noticed.
    const resolver = new dns.Resolver({ timeout: 1000, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    // Some servers never answer for one of the families; the other then has to do.
    const patience = setTimeout(() => resolver.cancel(), DNS_PATIENCE_MS);
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    clearTimeout(patience);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length === 0) throw answers.find((answer) => answer.status === 'rejected')?.reason;
    return found;
  };
}

/** A lookup as the machine's programs do it, with its hosts file. */
export const systemLookup: Lookup = async (name) => {
  const found = await dns.lookup(name, { all: true, order: 'ipv4first' });
  return found.map(({ address }) => address);
};

/**
 * What is known of a host within a time limit.
 * - RESOLVES: every address is fit to be dialled.
 * - UNRESOLVED: no answer, or none in time; connecting judges again.
 * - FORBIDDEN: an address is not; or a special-use name that nothing shows to be exempt.
 */
export async function checkHost(
  resolve: HostResolver,
  host: Host,
  timeoutMs: number,
): Promise<'RESOLVES' | 'UNRESOLVED' | 'FORBIDDEN'> {
  const timer = new AbortController();
  try {
    const judged = resolve(host).then(
      () => 'RESOLVES' as const,
      (error: unknown) => {
        if (!(error instanceof EgressError)) throw error;
        return error.kind === 'EGRESS_DENIED' ? ('FORBIDDEN' as const) : ('UNRESOLVED' as const);
      },
    );
    const late = delay(timeoutMs, 'UNRESOLVED' as const, { signal: timer.signal });
    late.catch(() => {});
    const outcome = await Promise.race([judged, late]);
    return outcome === 'UNRESOLVED' && host.kind === 'NAME' && host.specialUse ? 'FORBIDDEN' : outcome;
  } finally {
    timer.abort();
  }
}

async function ask(lookup: Lookup, name: string): Promise<readonly string[]> {
  try {
    const found = await lookup(name);
    if (found.length > 0) return found;
  } catch (error) {
    throw new EgressError('DNS', `${name} does not resolve`, { cause: error });
  }
  throw new EgressError('DNS', `${name} has no address`);
}

function denied(message: string): EgressError {
  return new EgressError('EGRESS_DENIED', message);
}
