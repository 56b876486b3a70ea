import { createServer, type Socket } from 'node:net';
import { Code, createClient } from '@connectrpc/connect';
import { afterAll, expect, test } from 'vitest';
import { AdvanceRequestStatus, AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { startHarness } from '../../support/harness.ts';
import { portOf } from '../../support/port-of.ts';
import { advancesCaller, SOLD } from './advances-caller.ts';

/** A frozen process: its kernel accepts connections, and nothing answers. */
const connections = new Set<Socket>();
const frozen = createServer((socket) => connections.add(socket)).listen(0, '127.0.0.1');
const whole = await startHarness({ SERVICES: 'funds,advances' });
const apart = await startHarness(
  {
    SERVICES: 'advances',
    SERVICES_URL: `http://127.0.0.1:${await portOf(frozen)}`,
    SERVICE_TOKEN: whole.token,
  },
  undefined,
  whole.databaseUrl,
);
afterAll(async () => {
  for (const socket of connections) socket.destroy();
  frozen.close();
  await apart.close();
  await whole.close();
});

test('while the process of funds is frozen, calls without a deadline end, and a refusal succeeds', async () => {
  const merchant = await advancesCaller(whole.transports.inProcess);
  const { id } = await merchant.request((await merchant.quote()).id);
  const advances = createClient(AdvanceService, apart.transports.inProcess);
  const quote = advances.quoteAdvance(merchant.funds.write(SOLD)).catch((error: unknown) => error);
  const refusal = { ...merchant.funds.write(SOLD), advanceRequestId: id, reason: 'not this time' };
  const { advanceRequest } = await advances.refuseAdvance(refusal);
  expect(advanceRequest!.status).toBe(AdvanceRequestStatus.REFUSED);
  expect(await quote).toMatchObject({ code: Code.DeadlineExceeded });
});
