import { create } from '@bufbuild/protobuf';
import { createHandlerContext } from '@connectrpc/connect';
import { afterEach, expect, it, vi } from 'vitest';
import {
  ExportMovementsRequestSchema,
  FundsService,
} from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../../../services/platform/database/database.ts';
import { Exports } from '../../../../services/platform/reads/exports.ts';
import type { Writes } from '../../../../services/platform/writes/writes.ts';
import { newTenant } from '../../../support/harness.ts';

const request = create(ExportMovementsRequestSchema, newTenant());

const contextOf = (requestSignal: AbortSignal) =>
  createHandlerContext({
    service: FundsService,
    method: FundsService.method.exportMovements,
    protocolName: 'grpc',
    requestMethod: 'POST',
    url: 'http://localhost',
    requestSignal,
  });

afterEach(() => vi.useRealTimers());

it('an export takes no slot if its caller leaves before it has one', async () => {
  const cancel = new AbortController();
  const writes = {
    // The caller leaves while its rights are read.
    checkPerson: async () => cancel.abort(new Error('the caller has left')),
    transaction: async () => undefined,
  } as unknown as Writes;
  const database = {
    snapshot: async () => ({ read: async () => [], [Symbol.asyncDispose]: async () => undefined }),
  } as unknown as Database;
  const exports = new Exports(database, writes);
  const context = contextOf(cancel.signal);
  // More than a merchant's slots.
  for (let n = 0; n < 5; n += 1) {
    const exported = exports.run(request, context, async function* () {
      yield 'a message';
    });
    await expect(exported.next()).rejects.toThrow('the caller has left');
  }
});

it.each<[end: string, after: (caller: AbortController) => Promise<unknown>]>([
  ['it takes more than five minutes', () => vi.advanceTimersByTimeAsync(300_000)],
  ['its caller leaves', async (caller) => caller.abort()],
])('an export whose snapshot ends because %s is too slow, not a failure of the service', async (_, after) => {
  vi.useFakeTimers();
  const caller = new AbortController();
  const writes = {
    checkPerson: async () => undefined,
    transaction: async () => undefined,
  } as unknown as Writes;
  let hasEnded = false;
  const snapshot = {
    read: async () => {
      if (hasEnded) throw new Error('the snapshot has ended');
      return [];
    },
    [Symbol.asyncDispose]: async () => {
      hasEnded = true;
    },
  };
  const exports = new Exports({ snapshot: async () => snapshot } as unknown as Database, writes);
  const exported = exports.run(request, contextOf(caller.signal), async function* (read) {
    for (;;) yield await read({} as never);
  });
  await exported.next();
  await after(caller);
  await expect(exported.next()).rejects.toMatchObject({ reason: 'EXPORT_TOO_SLOW' });
});
