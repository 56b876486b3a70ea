import { timestampMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import {
  ProviderQueueAction as Action,
  ProviderOutcome,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { newTenant } from '../../../support/harness.ts';
import { sharedListHarness } from '../../../support/list-suite.ts';
import { describeQueue } from '../../../support/queue-suite.ts';
import { refundsOf } from '../refund-case-fixture.ts';
import { providerQueue } from './provider-queue.ts';

const { harness, statements } = sharedListHarness('refunds,funds');

describeQueue(
  'ListProviderQueue',
  () => providerQueue(harness()),
  statements,
  [
    ['', 'refund_case_provider_queue'],
    ['silentOnly', 'refund_case_provider_queue'],
  ],
  [['', 'refund_case_provider_queue_merchant']],
);

it('asks to contact a provider that is silent, until it reports', async () => {
  const tenant = newTenant();
  const { refunds, write } = refundsOf(harness(), 'grpc', tenant);
  await (
    await providerQueue(harness())
      .subjectOf(() => tenant)
      .fixtureOf(tenant)
  ).insert(0);
  const item = async () => (await refunds.listProviderQueue(tenant)).items[0];
  const silent = await item();
  expect(silent).toMatchObject({
    nextAction: Action.CONTACT_PROVIDER,
    waitingSince: silent!.refundCase!.requestedAt,
  });
  expect(timestampMs(silent!.dueAt!)).toBe(timestampMs(silent!.waitingSince!) + DAY_MS);
  const { id: refundCaseId } = silent!.refundCase!;
  const outcome = ProviderOutcome.SUBMITTED;
  await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome });
  const reported = await item();
  expect(reported!.nextAction).toBe(Action.AWAIT_PROVIDER);
  expect(timestampMs(reported!.waitingSince!)).toBeGreaterThan(timestampMs(silent!.dueAt!));
  const { items } = await refunds.listProviderQueue({ ...tenant, silentOnly: true });
  expect(items).toEqual([]);
  await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome: ProviderOutcome.SUCCEEDED });
  expect(await item()).toBeUndefined();
});
