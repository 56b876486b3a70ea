import { Code, createClient } from '@connectrpc/connect';
import { expect, vi } from 'vitest';
import { AdvanceRequestStatus, AdvanceService } from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { seedMerchant } from '../../gateway/seed-merchant.ts';
import { newWrite } from '../../support/harness.ts';
import { failing, type TestProvider } from '../../support/provider-server.ts';
import type { SandboxMerchant } from '../sandbox-merchant.ts';
import type { DashboardPerson } from './dashboard-person.ts';
import type { SeparateSystem } from './separate-system.ts';

const { RELEASED } = AdvanceRequestStatus;
const PAYOUT = { providerPayoutId: 'po_1' };

interface Parties {
  readonly system: SeparateSystem;
  readonly person: DashboardPerson;
  readonly provider: TestProvider;
  readonly tenant: SandboxMerchant['tenant'];
}

/**
 * An advance on everything that the merchant has sold: quoted and requested in the dashboard, approved and released
 * by a team. Its payout takes some seconds, because the provider fails twice.
 */
export async function releaseAdvance({ system: { transport }, person, provider, tenant }: Parties) {
  await seedMerchant(transport, tenant.merchantId, tenant.environment).sale(14_400n, 3);
  const advanceRequestId = await person.requestAdvance('144.00');
  const fails = failing(Code.Unavailable);
  provider.payout(advanceRequestId, fails, fails, () => ({ result: { case: 'accepted', value: PAYOUT } }));
  const advances = createClient(AdvanceService, transport);
  const write = () => ({ ...newWrite(tenant), advanceRequestId });
  await advances.approveAdvance(write());
  await advances.releaseAdvance(write());
  return {
    /** Waits until the provider has accepted the payout, which is the same one whoever submits it again. */
    async isPaidOut(timeout: number) {
      await vi.waitFor(
        async () => {
          const { advanceRequest } = await advances.getAdvanceRequest({ ...tenant, advanceRequestId });
          expect(advanceRequest).toMatchObject({ status: RELEASED, payout: PAYOUT });
        },
        { timeout, interval: 100 },
      );
      const references = provider.callsOf(advanceRequestId).map(({ reference }) => reference);
      expect(references.length).toBeGreaterThan(2);
      expect(new Set(references).size).toBe(1);
    },
  };
}
