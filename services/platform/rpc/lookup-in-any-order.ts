import dns from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Looks up the addresses of a name, in random order. A connection is made to the first that accepts it, so without this
 * the order of the resolver decides which process gets all calls.
 */
export const lookupInAnyOrder: LookupFunction = (name, options, callback) => {
  dns.lookup(name, options, (error, address, family) =>
    callback(error, Array.isArray(address) ? shuffled(address) : address, family),
  );
};

const shuffled = <T>(values: readonly T[]): T[] =>
  values
    .map((value) => ({ value, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
