import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import {
  ProviderOutcome,
  RefundCaseService,
  RefundDebitOutcome,
  RefundInitiator,
} from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DAY_MS } from '../../../../services/platform/durations.ts';
import { copyRows } from '../../../support/copy-rows.ts';
import type { TestHarness } from '../../../support/harness.ts';
import { newestFirst, rpcPage } from '../../../support/list-walk.ts';
import type { Queue } from '../../../support/queue-suite.ts';
import { refundsOf } from '../refund-case-fixture.ts';
import { addFinishedCases } from './refund-case-queue.ts';

const START_MS = Date.now() - 2 * DAY_MS;

/** The queue of refunds that await the provider, for the queue suite. The provider has been silent for two days. */
export function providerQueue(harness: TestHarness): Queue {
  return {
    table: 'refunds.refund_case',
    isMultiplied: true,
    list: (transport) => createClient(RefundCaseService, transport).listProviderQueue({}),
    copyRowsOf: (merchantId) => copyRows(harness, 'refunds.refund_case', ['merchant_id', merchantId], 5_000),
    addFinished: () => addFinishedCases(harness),
    subjectOf: (scopeOf) => ({
      harness,
      direction: 'asc',
      filters: { silentOnly: { values: ['true'] } },
      truth: `select id as key, ${newestFirst('processing_started_at')},
          (coalesce(provider_reported_at, processing_started_at) <= now() - interval '1 day')::text as "silentOnly"
        from refunds.refund_case where merchant_id = $1 and environment = $2 and status = 'PROCESSING'`,
      async fixtureOf(tenant) {
        const { refunds, write, open } = refundsOf(harness, 'inProcess', tenant);
        const debitFirst = async (place: number) => {
          const occurredAt = timestampFromMs(START_MS + place);
          const opening = { initiator: RefundInitiator.MERCHANT, paidAt: timestampFromMs(START_MS - 1_000) };
          const { id: refundCaseId } = await open({ ...opening, occurredAt });
          const request = { ...write(), refundCaseId, occurredAt };
          await refunds.startRefund(request);
          await refunds.recordRefundDebit({ ...request, outcome: RefundDebitOutcome.DEBITED });
          return refundCaseId;
        };
        let debited = 0;
        let first: Promise<string> | undefined;
        return {
          tenant,
          list: ({ filters = {}, limit = 0, after = '' }) => {
            const silentOnly = filters.silentOnly === 'true';
            const request = { ...scopeOf(tenant), silentOnly, pageSize: limit, pageToken: after };
            return rpcPage(refunds.listProviderQueue(request), ({ items }) =>
              items.map(({ refundCase }) => refundCase!.id),
            );
          },
          /** A refund takes three calls, so further ones are copies of the first. */
          async insert(place) {
            debited += 1;
            if (first) return copyDebited(harness, await first, place);
            first = debitFirst(place);
            await first;
          },
          /** Most stay in the queue, because the suite counts them. */
          async change({ key: refundCaseId }, pick) {
            const outcome = debited < 50 && pick % 2 ? ProviderOutcome.SUCCEEDED : ProviderOutcome.SUBMITTED;
            await refunds.recordProviderOutcome({ ...write(), refundCaseId, outcome });
          },
        };
      },
    }),
  };
}

/** Copies a case to a place of the queue, as it was when it was debited. */
async function copyDebited(harness: TestHarness, refundCaseId: string, place: number): Promise<void> {
  const debited = {
    status: 'PROCESSING',
    processing_started_at: new Date(START_MS + place),
    provider_reported_at: null,
  };
  await copyRows(harness, 'refunds.refund_case', ['id', refundCaseId], 1, debited);
}
