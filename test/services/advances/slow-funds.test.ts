import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, expect, test } from 'vitest';
import { AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { newTenant, newWrite, startHarness } from '../../support/harness.ts';
import { portOf } from '../../support/port-of.ts';

/** A process with funds that is alive but answers no call. */
const calls = new EventEmitter();
const slow = createServer((request, response) =>
  request.method === 'HEAD' ? response.end() : calls.emit('call', request),
).listen(0, '127.0.0.1');
const harness = await startHarness({
  SERVICES: 'advances',
  SERVICES_URL: `http://127.0.0.1:${await portOf(slow)}`,
  SERVICE_TOKEN: 'mps_token',
});
afterAll(async () => {
  await harness.close();
  slow.close();
  slow.closeAllConnections();
});
const advances = createClient(AdvanceService, harness.transports.grpc);
const nextCall = async () => (await once(calls, 'call'))[0] as IncomingMessage;

test('a call to another area has less time than its own caller still waits, so that the caller gets an answer', async () => {
  for (const [timeoutMs, atMost] of [
    [3_000, 2_400],
    [20_000, 8_000],
  ] as const) {
    const called = nextCall();
    const caller = new AbortController();
    const quote = advances.quoteAdvance(newWrite(newTenant()), { timeoutMs, signal: caller.signal });
    const failed = expect(quote).rejects.toMatchObject({ code: Code.Canceled });
    const given = Number((await called).headers['connect-timeout-ms']);
    expect(given).toBeLessThanOrEqual(atMost);
    expect(given).toBeGreaterThan(atMost / 2);
    caller.abort();
    await failed;
  }
});

test('a read of another area ends when the caller stops waiting', async () => {
  const called = nextCall();
  const caller = new AbortController();
  const quote = advances.quoteAdvance(newWrite(newTenant()), { signal: caller.signal });
  const failed = expect(quote).rejects.toMatchObject({ code: Code.Canceled });
  const ended = once((await called).socket, 'close');
  const abortedAt = performance.now();
  caller.abort();
  await ended;
  // Long before its own deadline.
  expect(performance.now() - abortedAt).toBeLessThan(4_000);
  await failed;
});
