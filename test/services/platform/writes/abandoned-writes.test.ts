import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Code } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { startHarness } from '../../../support/harness.ts';
import { openSession, sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../../funds/funds-caller.ts';

const harness = await startHarness({ SERVICES: 'funds' });
afterAll(() => harness.close());

/** How long the caller waits for a write. */
const WAIT_MS = 200;
const ENDINGS = {
  'the deadline has passed': () => ({ timeoutMs: WAIT_MS }),
  'the caller has disconnected': () => ({ signal: AbortSignal.timeout(WAIT_MS) }),
};

describe.each(['inProcess', 'grpc', 'connect'] as const)('a write over %s', (way) => {
  it.each(Object.entries(ENDINGS))(
    'is rolled back once %s, and succeeds when repeated',
    async (ending, options) => {
      const { client, tenant, write, sell } = fundsCaller(harness.transports[way]);
      await sell({ gross: 1_000n });
      await using lock = await openSession(harness.databaseUrl);
      await lock.query('begin');
      await lock.query('select from funds.account where merchant_id = $1 for update', [tenant.merchantId]);
      const deduction = { ...write(), sourceId: randomUUID(), amountMinor: 100n };
      const late = client.applyDeduction(deduction, options());
      const code = ending === 'the deadline has passed' ? Code.DeadlineExceeded : Code.Canceled;
      await expect(late).rejects.toMatchObject({ code });
      await delay(50);
      await lock.query('commit');
      // Its turn at the account comes before this one's.
      await sell({ gross: 1n });
      const kept = 'select from funds.deduction where source_id = $1';
      expect(await sqlOf(harness, kept, [deduction.sourceId])).toEqual([]);
      expect(await client.applyDeduction(deduction)).toMatchObject({ deductedAmountMinor: 100n });
    },
  );
});
