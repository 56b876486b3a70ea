import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient, createRouterTransport } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import {
  RefundCaseOrder,
  RefundCaseSchema,
  RefundCaseService,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { HOUR_MS } from '../../../services/platform/durations.ts';
import { findDueRefunds } from '../../../workflows/accounts/deadline-notice.ts';
import { newTenant } from '../../support/harness.ts';

it('counts the announced deadlines of all pages, and reads no page after those', async () => {
  const nowMs = Date.now();
  // The first 250 deadlines are announced, the other 300 are not.
  const cases = Array.from({ length: 550 }, (_, n) =>
    create(RefundCaseSchema, {
      id: String(n),
      merchantReviewDeadlineAt: timestampFromMs(nowMs + HOUR_MS + n),
      ...(n < 250 && { deadlineNotifiedAt: timestampFromMs(nowMs + n) }),
    }),
  );
  let pages = 0;
  const transport = createRouterTransport((router) =>
    router.service(RefundCaseService, {
      listRefundCases({ order, pageSize, pageToken }) {
        expect(order).toBe(RefundCaseOrder.REVIEW_DEADLINE);
        pages += 1;
        const end = Number(pageToken) + pageSize;
        return {
          refundCases: cases.slice(end - pageSize, end),
          nextPageToken: end < cases.length ? String(end) : '',
        };
      },
    }),
  );
  const due = await findDueRefunds(createClient(RefundCaseService, transport), newTenant());
  expect(due).toMatchObject({ refundCases: { length: 250 }, happenedAt: new Date(nowMs + 249) });
  expect(pages).toBe(3);
});
