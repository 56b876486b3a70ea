import { randomUUID } from 'node:crypto';
import { type Client, Code, createClient } from '@connectrpc/connect';
import { afterAll, expect, it, vi } from 'vitest';
import {
  FundsService,
  type ReleaseDueFundsResponse,
} from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { Environment } from '../../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { startOfDay } from '../../../../services/platform/civil-date.ts';
import { ALL_GRANTS } from '../../../../services/platform/rpc/grants.ts';
import { expectRefusal } from '../../../support/expect-refusal.ts';
import { newTenant, startHarness } from '../../../support/harness.ts';
import { scrape, UNTIL_SCRAPED } from '../../../support/scrape.ts';
import { sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../funds-caller.ts';
import { verifyFunds } from '../verification/verify-funds.ts';

const harness = await startHarness({ SERVICES: 'funds' });
afterAll(() => harness.close());

/** Releases what is due of all accounts; returns the responses. */
async function releaseAll(funds: Client<typeof FundsService>): Promise<ReleaseDueFundsResponse[]> {
  const calls: ReleaseDueFundsResponse[] = [];
  do calls.push(await funds.releaseDueFunds({ after: calls.at(-1)?.next }));
  while (calls.at(-1)!.next);
  return calls;
}

it('releases what is due for all merchants and environments exactly once, in as many calls as necessary', async () => {
  const merchants = Array.from({ length: 25 }, (_, index) =>
    fundsCaller(harness.transports.inProcess, newTenant(index % 2 ? Environment.TEST : Environment.LIVE)),
  );
  for (const funds of merchants) await funds.sell({ on: '2020-06-20', gross: 300n, installments: 3 });
  await merchants[0]!.sell({ gross: 50n });
  // Due reserved installments are not released, and do not keep others from being released.
  const first = `00000000-${randomUUID().slice(9)}`;
  const stuck = fundsCaller(harness.transports.inProcess, {
    merchantId: first,
    environment: Environment.LIVE,
  });
  await stuck.sell({ on: '2020-06-20', gross: 100n });
  const reserved = randomUUID();
  await stuck.reserve((await stuck.advanceable('2020-06-20')).installments, reserved, '2020-06-20');
  const all = createClient(FundsService, harness.transports.grpc);
  const calls = await releaseAll(all);
  const sum = (of: (call: ReleaseDueFundsResponse) => bigint) =>
    calls.reduce((total, call) => total + of(call), 0n);
  expect(sum((call) => BigInt(call.releasedInstallments))).toBe(75n);
  expect(sum((call) => call.releasedAmountMinor)).toBe(7500n);
  for (const { dueReservations } of calls) {
    expect(dueReservations).toMatchObject([{ ...stuck.tenant, advanceRequestId: reserved }]);
  }
  expect(calls.map(({ hasMore }) => hasMore)).toEqual([true, false]);
  expect(await all.releaseDueFunds({})).toMatchObject({ releasedInstallments: 0, hasMore: false });
  const rows = await merchants[0]!.rows();
  expect(rows.map((row) => row[1])).toEqual(['RELEASED', 'RELEASED', 'RELEASED', 'SCHEDULED']);
  await verifyFunds(harness);
});

it('releases the funds of all other accounts when some of them fail', async () => {
  const all = createClient(FundsService, harness.transports.inProcess);
  const merchants = Array.from({ length: 30 }, () =>
    fundsCaller(harness.transports.inProcess, newTenant(Environment.TEST)),
  );
  for (const funds of merchants) await funds.sell({ on: '2020-06-20', gross: 100n });
  const failing = merchants.slice(0, 22).map(({ tenant }) => tenant.merchantId);
  await sqlOf(
    harness,
    `create function funds.fail() returns trigger language plpgsql as $$ begin raise 'corrupt'; end $$;
     create trigger fail before update on funds.installment for each row
       when (new.merchant_id = any ('{${failing}}')) execute function funds.fail()`,
  );
  const calls = await releaseAll(all);
  await expect(all.releaseDueFunds(merchants[0]!.tenant)).rejects.toMatchObject({ code: Code.Internal });
  await sqlOf(harness, 'drop trigger fail on funds.installment');
  expect(calls.flatMap((call) => call.failedAccounts.map(({ merchantId }) => merchantId))).toEqual(
    failing.sort(),
  );
  expect(calls.flatMap((call) => call.releasedInstallments).reduce((a, b) => a + b)).toBe(8);
  expect(calls).toHaveLength(2);
  const [repaired, ...others] = await releaseAll(all);
  expect(repaired).toMatchObject({ releasedInstallments: 20, failedAccounts: [] });
  expect(others).toMatchObject([{ releasedInstallments: 2, hasMore: false }]);
  const refused = all.releaseDueFunds({ ...merchants[0]!.tenant, after: merchants[1]!.tenant });
  await expectRefusal(refused, Code.InvalidArgument, 'INVALID_ARGUMENT', { field: 'after' });
});

it('releases a thousand installments of an account at a time, and says that there are more', async () => {
  const { sell, releaseDue, tenant } = fundsCaller(harness.transports.inProcess);
  const sale = { on: '2010-06-21', gross: 99n, installments: 99 };
  await Promise.all(Array.from({ length: 11 }, () => sell(sale)));
  const calls = [await releaseDue(), await releaseDue()];
  expect(calls).toMatchObject([
    { releasedInstallments: 1_000, hasMore: true, unfinishedAccounts: 1 },
    { releasedInstallments: 89, hasMore: false, unfinishedAccounts: 0 },
  ]);
  await verifyFunds(harness, tenant);
});

it('measures for how long funds that are due have not been released', async () => {
  const late = async (environment: string) =>
    (await scrape())(`payments_funds_release_late_seconds{environment="${environment}"}`)!;
  const funds = fundsCaller(harness.transports.inProcess, newTenant(Environment.LIVE));
  await funds.sell({ gross: 90n, installments: 3 });
  await vi.waitFor(
    async () => expect([await late('live'), await late('test')]).toEqual([0, 0]),
    UNTIL_SCRAPED,
  );
  await funds.sell({ on: '2020-06-20', gross: 90n });
  const dueOn = startOfDay((await funds.rows())[0]![0] as string);
  await vi.waitFor(async () => {
    expect(await late('live')).toBeCloseTo((Date.now() - dueOn.getTime()) / 1_000, -2);
  }, UNTIL_SCRAPED);
  expect(await late('test')).toBe(0);
  const { installments } = await funds.advanceable('2020-06-20');
  await funds.reserve(installments, randomUUID(), '2020-06-20');
  await vi.waitFor(async () => expect(await late('live')).toBe(0), UNTIL_SCRAPED);
});

it('returns the reservations that came due last, however many older ones there are', async () => {
  const funds = fundsCaller(harness.transports.inProcess);
  const reservation = `insert into funds.reservation
    (merchant_id, environment, advance_request_id, state, amount_minor, first_date, last_date)
    select $1, 'live', gen_random_uuid(), 'HELD', 1, $2, $2 from generate_series(1, $3)`;
  const { merchantId } = funds.tenant;
  await sqlOf(harness, reservation, [merchantId, '2020-07-19', 100]);
  await sqlOf(harness, reservation, [merchantId, '2020-07-20', 1]);
  const [latest] = await sqlOf<{ id: string }>(
    harness,
    'select advance_request_id as id from funds.reservation where merchant_id = $1 and first_date = $2',
    [merchantId, '2020-07-20'],
  );
  const { dueReservations } = await funds.releaseDue();
  expect(dueReservations.map(({ advanceRequestId }) => advanceRequestId)).toContain(latest!.id);
});

it('leaves an entry in the audit trail of each account that it releases, and of one that is named', async () => {
  const { client, tenant, sell } = fundsCaller(harness.transports.inProcess, newTenant(Environment.TEST));
  await sell({ on: '2020-06-20', gross: 90n });
  const entries = async () => {
    const text = 'select from platform.audit_entry where merchant_id = $1 and action like $2';
    return (await sqlOf(harness, text, [tenant.merchantId, '%.ReleaseDueFunds'])).length;
  };
  await releaseAll(client);
  await releaseAll(client);
  expect(await entries()).toBe(1);
  expect(await client.releaseDueFunds(tenant)).toMatchObject({ releasedInstallments: 0 });
  expect(await entries()).toBe(2);
});

it('requires the grant operations for all merchants, and a merchant with its environment', async () => {
  const grants = new Set(ALL_GRANTS.filter((grant) => grant !== 'operations'));
  const client = createClient(FundsService, harness.services.transportFor({ name: 'other', grants }));
  await expectRefusal(client.releaseDueFunds({}), Code.PermissionDenied, 'GRANT_MISSING', {
    grant: 'operations',
  });
  const { merchantId } = newTenant();
  const field = { field: 'environment' };
  await expectRefusal(
    client.releaseDueFunds({ merchantId }),
    Code.InvalidArgument,
    'INVALID_ARGUMENT',
    field,
  );
});
