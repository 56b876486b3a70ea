import { create } from '@bufbuild/protobuf';
import { createHandlerContext } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import {
  ExportMovementsRequestSchema,
  FundsService,
} from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { Database } from '../../../../services/platform/database/database.ts';
import { Exports } from '../../../../services/platform/reads/exports.ts';
import type { Writes } from '../../../../services/platform/writes/writes.ts';
import { newTenant } from '../../../support/harness.ts';

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
  const context = createHandlerContext({
    service: FundsService,
    method: FundsService.method.exportMovements,
    protocolName: 'grpc',
    requestMethod: 'POST',
    url: 'http://localhost',
    requestSignal: cancel.signal,
  });
  const request = create(ExportMovementsRequestSchema, newTenant());
  // More than a merchant's slots.
  for (let n = 0; n < 5; n += 1) {
    const exported = exports.run(request, context, async function* () {
      yield 'a message';
    });
    await expect(exported.next()).rejects.toThrow('the caller has left');
  }
});
