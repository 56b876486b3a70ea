import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Name servers that are silent would use up the deadline of the call that waits for a connection. */
const LATE_MS = 1_000;

/** After this time other services may have the addresses, and would get our calls and tokens. */
const MAX_AGE_MS = 600_000;

interface Answer {
  readonly addresses: readonly LookupAddress[];
  readonly atMs: number;
}

/** The last answer for each name. */
const known = new Map<string, Answer>();
/** Concurrent connections share one query. */
const pending = new Map<string, Promise<readonly LookupAddress[]>>();

/**
 * Looks up the addresses of services, in random order: a connection is made to the first that accepts it, so without this
 * the order of the resolver decides which process gets all calls. Connections are renewed all the time, so while the
 * name cannot be resolved, its last addresses are used, for ten minutes at most.
 */
export const lookupServices: LookupFunction = (name, options, callback) => {
  if (!options.all) return dns.lookup(name, options, callback);
  addressesOf(name, options).then(
    (addresses) => callback(null, shuffled(addresses)),
    (error: NodeJS.ErrnoException) => callback(error, []),
  );
};

async function addressesOf(name: string, options: LookupOptions): Promise<readonly LookupAddress[]> {
  const answer = pending.get(name) ?? query(name, options).finally(() => pending.delete(name));
  pending.set(name, answer);
  const last = known.get(name);
  if (!last || performance.now() - last.atMs > MAX_AGE_MS) return answer;
  const late = delay(LATE_MS, last.addresses, { ref: false });
  return Promise.race([answer.catch(() => last.addresses), late]);
}

function query(name: string, options: LookupOptions): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    dns.lookup(name, { ...options, all: true }, (error, addresses) => {
      if (error) return reject(error);
      known.set(name, { addresses, atMs: performance.now() });
      resolve(addresses);
    });
  });
}

const shuffled = <T>(values: readonly T[]): T[] =>
  values
    .map((value) => ({ value, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
