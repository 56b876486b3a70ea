import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  AdvanceAction as Action,
  AdvanceService,
} from '../../../proto/gen/payments/advances/v1/advances_pb.js';
import { startOfDay } from '../../../services/platform/civil-date.ts';
import { timestampOf } from '../../../services/platform/timestamps.ts';
import type { TestHarness } from '../../support/harness.ts';
import { newTenant } from '../../support/harness.ts';
import { startListHarness } from '../../support/list-suite.ts';
import { describeQueue } from '../../support/queue-suite.ts';
import { fundsCaller } from '../funds/funds-caller.ts';
import { advanceQueue } from './advance-queue.ts';

const SOLD = '2020-06-20';

let harness: TestHarness;
const statements: string[] = [];
beforeAll(async () => {
  harness = await startListHarness('funds,advances', statements);
});
afterAll(() => harness.close());

describeQueue('ListAdvanceQueue', () => advanceQueue(harness), statements, [
  ['', 'request_queue'],
  ['status', 'request_queue'],
]);

it('has the review, then the payout, as its next action until the first covered date, and none after the payout', async () => {
  const tenant = newTenant();
  const client = createClient(AdvanceService, harness.transports.grpc);
  const { sell, write } = fundsCaller(harness.transports.grpc, tenant);
  await sell({ on: SOLD, gross: 100n });
  const { quote } = await client.quoteAdvance(write(SOLD));
  const { advanceRequest } = await client.requestAdvance({ ...write(SOLD), quoteId: quote!.id });
  const { id: advanceRequestId, requestedAt } = advanceRequest!;
  const item = async () => (await client.listAdvanceQueue(tenant)).items[0];
  const dueAt = timestampOf(startOfDay(quote!.installments[0]!.date));
  const review = { advanceRequest, nextAction: Action.REVIEW, waitingSince: requestedAt, dueAt };
  expect(await item()).toMatchObject(review);
  const approved = await client.approveAdvance({ ...write(SOLD), advanceRequestId });
  expect(await item()).toMatchObject({
    advanceRequest: approved.advanceRequest,
    nextAction: Action.RELEASE,
    waitingSince: approved.advanceRequest!.reviewedAt,
    dueAt,
  });
  await client.releaseAdvance({ ...write(SOLD), advanceRequestId });
  expect(await item()).toBeUndefined();
});
