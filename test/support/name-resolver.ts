import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { onTestFinished, vi } from 'vitest';

/** The answer of the resolver for a name: its addresses, in this order; an error; or none at all. */
export interface Resolver {
  answer: readonly string[] | Error | 'SILENT';
}

/** Replaces the resolver's answer for a name until the test ends. */
export function resolverOf(name: string, answer: readonly string[]): Resolver {
  const lookup = dns.lookup as LookupFunction;
  const resolver: Resolver = { answer };
  const fakeLookup: LookupFunction = (host, options, callback) => {
    const { answer } = resolver;
    if (host !== name) return lookup(host, options, callback);
    if (answer === 'SILENT') return;
    const failed = answer instanceof Error;
    const addresses = failed ? [] : answer.map((address) => ({ address, family: 4 }));
    process.nextTick(() => callback(failed ? answer : null, addresses));
  };
  vi.spyOn(dns, 'lookup').mockImplementation(fakeLookup as typeof dns.lookup);
  onTestFinished(() => void vi.restoreAllMocks());
  return resolver;
}
