import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDnsLookup } from '../../../../services/platform/egress/dns-lookup.ts';
import { startDnsResponder } from '../../../support/dns-responder.ts';

afterEach(() => vi.restoreAllMocks());

/** The number of DNS queries for lookups of a name at these times, in milliseconds. */
async function askedAt(timesMs: readonly number[], ttlSeconds: number): Promise<number> {
  await using dns = await startDnsResponder(() => ['127.0.0.1'], ttlSeconds);
  const { cached } = createDnsLookup([dns.server]);
  const now = vi.spyOn(performance, 'now');
  for (const timeMs of timesMs) {
    now.mockReturnValue(timeMs);
    expect(await cached('hooks.example.com')).toEqual(['127.0.0.1']);
  }
  return dns.questions.filter((question) => question === 'A hooks.example.com').length;
}

describe('looking up a name', () => {
  it('answers from its cache until the records expire', async () => {
    expect(await askedAt([0, 4_999], 5)).toBe(1);
    expect(await askedAt([0, 5_000, 9_999], 5)).toBe(2);
    expect(await askedAt([0, 0], 0)).toBe(2);
  });

  it('answers from its cache for at most 30 s', async () => {
    expect(await askedAt([0, 29_999], 3_600)).toBe(1);
    expect(await askedAt([0, 30_000], 3_600)).toBe(2);
  });

  it('makes one query for concurrent lookups, and another after a failure', async () => {
    let answer: 'NXDOMAIN' | string[] = 'NXDOMAIN';
    await using dns = await startDnsResponder(() => answer, 60);
    const { cached } = createDnsLookup([dns.server]);
    const lookups = () => Promise.allSettled([cached('hooks.example.com'), cached('hooks.example.com')]);
    expect((await lookups()).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    answer = ['127.0.0.1'];
    expect((await lookups()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(dns.questions).toHaveLength(4);
  });

  it('queries DNS for lookups that must not use the cache', async () => {
    await using dns = await startDnsResponder(() => ['127.0.0.1'], 60);
    const { now, cached } = createDnsLookup([dns.server]);
    await cached('hooks.example.com');
    await now('hooks.example.com');
    expect(dns.questions).toHaveLength(4);
  });
});
