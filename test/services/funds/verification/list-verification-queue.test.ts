import { timestampMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  VerificationAction as Action,
  FundsVerificationFailureCause as Cause,
  FundsInvariant,
  FundsService,
} from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import { sharedListHarness } from '../../../support/list-suite.ts';
import { describeQueue } from '../../../support/queue-suite.ts';
import { sqlOf } from '../../../support/sql.ts';
import { fundsCaller } from '../funds-caller.ts';
import { verificationQueue } from './verification-queue.ts';

const SOLD = '2020-06-01';

describe('pages', () => {
  const { harness, statements } = sharedListHarness('funds');
  beforeAll(async () => {
    await sqlOf(harness(), 'alter table funds.failing_account drop constraint failing_account_pkey');
  });

  describeQueue('ListVerificationQueue', () => verificationQueue(harness()), statements, [
    ['', 'failing_account_queue'],
  ]);
});

describe('an account', () => {
  const { harness } = sharedListHarness('funds');

  /** An account with a sale, its item of the queue, and the verification that updates it. */
  async function account() {
    const { client, tenant, sell } = fundsCaller(harness().transports.inProcess);
    await sell({ on: SOLD, gross: 100n });
    const grpc = createClient(FundsService, harness().transports.grpc);
    const setAmount = (column: string, table: string, value: number) =>
      sqlOf(harness(), `update funds.${table} set ${column} = $2 where merchant_id = $1`, [
        tenant.merchantId,
        value,
      ]);
    return {
      tenant,
      setAmount,
      async verified() {
        await client.verifyFunds(tenant);
        return (await grpc.listVerificationQueue(tenant)).items[0];
      },
    };
  }

  it('is in the queue from its first difference until it is verified without one', async () => {
    const { tenant, setAmount, verified } = await account();
    expect(await verified()).toBeUndefined();
    await setAmount('sales_count', 'release', 2);
    const first = await verified();
    expect(first).toMatchObject({
      account: tenant,
      nextAction: Action.CORRECT_ACCOUNT,
      cause: Cause.UNSPECIFIED,
      invariants: expect.arrayContaining([FundsInvariant.SALES_COUNT]),
    });
    expect(first!.differences).toBeGreaterThan(0);
    expect(first!.verifiedAt).toEqual(first!.waitingSince);
    const again = await verified();
    expect(again!.waitingSince).toEqual(first!.waitingSince);
    expect(timestampMs(again!.verifiedAt!)).toBeGreaterThan(timestampMs(first!.verifiedAt!));
    await setAmount('sales_count', 'release', 1);
    expect(await verified()).toBeUndefined();
    await setAmount('sales_count', 'release', 2);
    const later = await verified();
    expect(timestampMs(later!.waitingSince!)).toBeGreaterThan(timestampMs(again!.waitingSince!));
  });

  it('is to be verified again when its verification failed', async () => {
    const { tenant, setAmount, verified } = await account();
    await sqlOf(harness(), 'alter table funds.sale drop constraint sale_installments_check');
    await setAmount('installments', 'sale', 0);
    const nextAction = Action.VERIFY_AGAIN;
    const failed = { account: tenant, nextAction, cause: Cause.ERROR, differences: 0, invariants: [] };
    expect(await verified()).toMatchObject(failed);
    await setAmount('installments', 'sale', 2);
    expect(await verified()).toMatchObject({ nextAction: Action.CORRECT_ACCOUNT, cause: Cause.UNSPECIFIED });
    await setAmount('installments', 'sale', 1);
    expect(await verified()).toBeUndefined();
  });
});
