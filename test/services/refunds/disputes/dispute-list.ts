import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DisputeOutcome, DisputeStatus } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import type { TestHarness } from '../../../support/harness.ts';
import { type ListSubject, newestFirst, rpcPage } from '../../../support/list-walk.ts';
import { refundsOf, type Way } from '../refund-case-fixture.ts';

const PAYMENTS = [randomUUID(), randomUUID(), randomUUID()];
const START_MS = Date.now() - 3_600_000;

/** The list of disputes, for the list suite. */
export function disputeList(harness: TestHarness, way: Way = 'inProcess'): ListSubject {
  return {
    harness,
    direction: 'desc',
    filters: {
      paymentIntentId: { values: PAYMENTS, isId: true },
      status: { values: ['OPEN', 'CLOSED'] },
      outcome: { values: ['WON', 'LOST'] },
    },
    truth: `select id as key, ${newestFirst('opened_at')}, payment_intent_id as "paymentIntentId", outcome,
        case when closed_at is null then 'OPEN' else 'CLOSED' end as status
      from refunds.dispute where merchant_id = $1 and environment = $2`,
    async fixtureOf(tenant) {
      const { refunds, write } = refundsOf(harness, way, tenant);
      let opened = 0;
      return {
        tenant,
        list: ({ filters = {}, limit = 0, after = '' }) => {
          const { status, outcome, ...ids } = filters;
          const request = {
            ...tenant,
            ...ids,
            status: status && DisputeStatus[status as keyof typeof DisputeStatus],
            outcome: outcome && DisputeOutcome[outcome as keyof typeof DisputeOutcome],
            pageSize: limit,
            pageToken: after,
          } as Parameters<typeof refunds.listDisputes>[0];
          return rpcPage(refunds.listDisputes(request), ({ disputes }) => disputes.map(({ id }) => id));
        },
        async insert(place) {
          const occurredAt = timestampFromMs(START_MS + place);
          const paymentIntentId = PAYMENTS[opened++ % 3]!;
          const dispute = { disputeId: randomUUID(), paymentIntentId, amountMinor: 70n };
          await refunds.openDispute({ ...write(), ...dispute, occurredAt });
        },
        async change({ key: disputeId, status }, pick) {
          const outcome = pick % 2 ? DisputeOutcome.WON : DisputeOutcome.LOST;
          if (status === 'OPEN') await refunds.closeDispute({ ...write(), disputeId, outcome });
        },
      };
    },
  };
}
