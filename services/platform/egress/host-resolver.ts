import { promises as dns } from 'node:dns';
import { setTimeout as delay } from 'node:timers/promises';
import type { AddressPolicy } from './address-policy.ts';
import type { Lookup } from './dns-lookup.ts';
import { codeOf, EgressError } from './egress-error.ts';
import type { Host } from './host.ts';

export interface HostResolverDeps {
  readonly addresses: AddressPolicy;
  /** Used for ordinary names. */
  readonly dnsLookup: Lookup;
  /** Used for special-use names, which are resolved only when an allow-list is set. */
  readonly systemLookup: Lookup;
}

/** Resolves a host to addresses that may all be dialed. Rejects with an EgressError: DNS, DNS_TIMEOUT or EGRESS_DENIED. */
export type HostResolver = (host: Host) => Promise<readonly string[]>;

/**
 * The only place that resolves hosts, at creation and at connection: one forbidden address rejects the host. Addresses are
 * checked each time, also those from memory.
 */
export function createHostResolver({ addresses, dnsLookup, systemLookup }: HostResolverDeps): HostResolver {
  return async (host) => {
    if (host.kind === 'ADDRESS') {
      if (addresses.classify(host.address) === 'FORBIDDEN') throw denied(`${host.address} is not public`);
      return [host.address];
    }
    if (host.specialUse && !addresses.hasExemptions) throw denied(`${host.name} is a special-use name`);
    const found = await lookUp(host.specialUse ? systemLookup : dnsLookup, host.name);
    for (const address of found) {
      const addressClass = addresses.classify(address);
      if (addressClass === 'FORBIDDEN' || (host.specialUse && addressClass !== 'EXEMPT')) {
        throw denied(`${host.name} resolves to ${address}`);
      }
    }
    return found;
  };
}

/** Looks up names with the system resolver, including the hosts file. */
export const systemLookup: Lookup = async (name) => {
  const found = await dns.lookup(name, { all: true, order: 'ipv4first' });
  return found.map(({ address }) => address);
};

/**
 * - RESOLVES: every address may be dialed.
 * - UNRESOLVED: no response, or none in time; the connection checks again.
 * - FORBIDDEN: an address is forbidden, or a special-use name is not known to be exempt.
 */
export type HostCheck = 'RESOLVES' | 'UNRESOLVED' | 'FORBIDDEN';

/** Checks a host within a time limit. */
export async function checkHost(resolve: HostResolver, host: Host, timeoutMs: number): Promise<HostCheck> {
  const checked = resolve(host).then(
    (): HostCheck => 'RESOLVES',
    (error: unknown): HostCheck => {
      if (!(error instanceof EgressError)) throw error;
      return error.kind === 'EGRESS_DENIED' ? 'FORBIDDEN' : 'UNRESOLVED';
    },
  );
  const outcome = await Promise.race([checked, delay<HostCheck>(timeoutMs, 'UNRESOLVED', { ref: false })]);
  return outcome === 'UNRESOLVED' && host.kind === 'NAME' && host.specialUse ? 'FORBIDDEN' : outcome;
}

/** No DNS server responded, or the lookup was aborted; EAI_AGAIN comes from the system resolver. */
const TIMEOUT_CODES = new Set(['ETIMEOUT', 'ECANCELLED', 'EAI_AGAIN']);

async function lookUp(lookup: Lookup, name: string): Promise<readonly string[]> {
  try {
    const found = await lookup(name);
    if (found.length > 0) return found;
  } catch (error) {
    const kind = TIMEOUT_CODES.has(codeOf(error) ?? '') ? 'DNS_TIMEOUT' : 'DNS';
    throw new EgressError(kind, `${name} does not resolve`, { cause: error });
  }
  throw new EgressError('DNS', `${name} has no address`);
}

function denied(message: string): EgressError {
  return new EgressError('EGRESS_DENIED', message);
}
