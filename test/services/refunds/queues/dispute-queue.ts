import { randomUUID } from 'node:crypto';
import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { DisputeOutcome, RefundCaseService } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { copyRows } from '../../../support/copy-rows.ts';
import type { TestHarness } from '../../../support/harness.ts';
import { newestFirst, rpcPage } from '../../../support/list-walk.ts';
import type { Queue } from '../../../support/queue-suite.ts';
import { refundsOf } from '../refund-case-fixture.ts';

const START_MS = Date.now() - 3_600_000;
const DUE = [new Date(START_MS + 2), new Date(START_MS + 3_600_000)];

/** The queue of open disputes, for the queue suite. Every third one has no due date, and every sixth a response. */
export function disputeQueue(harness: TestHarness): Queue {
  return {
    table: 'refunds.dispute',
    isMultiplied: true,
    list: (transport) => createClient(RefundCaseService, transport).listDisputeQueue({}),
    addFinished: () => addFinishedDisputes(harness),
    subjectOf: (scopeOf) => ({
      harness,
      direction: 'asc',
      filters: {
        dueBy: {
          values: DUE.map((date) => date.toISOString()),
          fits: (row, value) => row.order.slice(0, 23) <= value.slice(0, 23),
        },
        responsesOnly: { values: ['true'] },
      },
      truth: `select id as key, ${newestFirst('coalesce(due_at, opened_at)')},
          (responded_at is not null and response_submitted_at is null)::text as "responsesOnly"
        from refunds.dispute where merchant_id = $1 and environment = $2 and closed_at is null`,
      async fixtureOf(tenant) {
        const { refunds, write } = refundsOf(harness, 'inProcess', tenant);
        let opened = 0;
        return {
          tenant,
          list: ({ filters: { dueBy, responsesOnly } = {}, limit = 0, after = '' }) => {
            const until = dueBy === undefined ? {} : { dueBy: timestampFromDate(new Date(dueBy)) };
            const request = {
              ...scopeOf(tenant),
              ...until,
              responsesOnly: responsesOnly === 'true',
              pageSize: limit,
              pageToken: after,
            };
            return rpcPage(refunds.listDisputeQueue(request), ({ items }) =>
              items.map(({ dispute }) => dispute!.id),
            );
          },
          async insert(place) {
            const dispute = { disputeId: randomUUID(), paymentIntentId: randomUUID(), amountMinor: 70n };
            const due = opened++ % 3 ? { dueAt: timestampFromMs(START_MS + place) } : {};
            const occurredAt = timestampFromMs(START_MS + (opened % 3 === 1 ? place : -1_000));
            await refunds.openDispute({ ...write(), ...dispute, ...due, occurredAt });
            if (opened % 6 === 1) {
              await refunds.respondToDispute({ ...write(), disputeId: dispute.disputeId, text: 'delivered' });
            }
          },
          /** Closes few of many, because the suite counts them. */
          async change({ key: disputeId }, pick) {
            const outcome = pick % 2 ? DisputeOutcome.WON : DisputeOutcome.LOST;
            if (opened < 50 || pick % 3 === 0) await refunds.closeDispute({ ...write(), disputeId, outcome });
          },
        };
      },
    }),
  };
}

async function addFinishedDisputes(harness: TestHarness): Promise<void> {
  const { refunds, write } = refundsOf(harness);
  const disputeId = randomUUID();
  await refunds.openDispute({ ...write(), disputeId, paymentIntentId: randomUUID() });
  await refunds.closeDispute({ ...write(), disputeId, outcome: DisputeOutcome.WON });
  await copyRows(harness, 'refunds.dispute', ['id', disputeId], 1000);
}
