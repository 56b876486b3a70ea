import { createClient } from '@connectrpc/connect';
import { expect } from 'vitest';
import { FundsService } from '../../../../proto/gen/payments/funds/v1/funds_pb.js';
import type { TestHarness } from '../../../support/harness.ts';

type FundsAccount = NonNullable<VerifyFundsAnswer['next']>;
type VerifyFundsAnswer = Awaited<ReturnType<typeof callOf>>;

/**
 * Verifies all funds of a database, or those of one account, and expects no difference; returns the number of
 * accounts.
 */
export async function verifyFunds(
  harness: Pick<TestHarness, 'transports'>,
  tenant?: Pick<FundsAccount, 'merchantId' | 'environment'>,
): Promise<number> {
  let verified = 0;
  for (let after: FundsAccount | undefined; ; ) {
    const answer = await callOf(harness, tenant ?? { ...(after && { after }) });
    expect(answer).toMatchObject({ differences: [], failures: [] });
    verified += answer.verifiedAccounts;
    after = answer.next;
    if (after === undefined) return verified;
  }
}

function callOf(
  { transports }: Pick<TestHarness, 'transports'>,
  request: Parameters<ReturnType<typeof createClient<typeof FundsService>>['verifyFunds']>[0],
) {
  return createClient(FundsService, transports.inProcess).verifyFunds(request);
}
