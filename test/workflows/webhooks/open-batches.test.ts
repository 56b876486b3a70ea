import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { type Batch, BatchSchema } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { OpenBatches } from '../../../workflows/webhooks/open-batches.ts';

const { LIVE, TEST } = Environment;

const claimed = (id: string, environment: Environment, deliveryIds: string[], more: Partial<Batch> = {}) =>
  create(BatchSchema, {
    ...{ id, environment, deliveryIds, merchantIds: ['merchant-1'], subscriptionIds: ['subscription-1'] },
    ...{ requestIds: ['request-1'], eventType: 'product.created.v1', ...more },
  });

it('fills one batch of each environment from many claims, with room for a hundred deliveries in all', () => {
  const open = new OpenBatches();
  const { live, test } = open.ids;
  open.add(claimed(live, LIVE, ['1', '2']));
  open.add(claimed(test, TEST, ['3']));
  open.add(
    claimed(live, LIVE, ['4'], { merchantIds: ['merchant-2'], requestIds: ['request-1', 'request-2'] }),
  );
  expect(open.capacity).toBe(96);
  expect(open.close()).toMatchObject([
    {
      ...{ id: live, environment: LIVE, deliveryIds: ['1', '2', '4'], eventType: 'product.created.v1' },
      ...{ merchantIds: ['merchant-1', 'merchant-2'], subscriptionIds: ['subscription-1'] },
      requestIds: ['request-1', 'request-2'],
    },
    { id: test, environment: TEST, deliveryIds: ['3'] },
  ]);
});

it('names no event type where there are several, and a delivery that is handed out again once', () => {
  const open = new OpenBatches();
  const { live } = open.ids;
  open.add(claimed(live, LIVE, ['1']));
  open.add(claimed(live, LIVE, ['2', '1'], { eventType: 'product.updated.v1' }));
  expect(open.capacity).toBe(98);
  const [batch] = open.close();
  expect(batch).toMatchObject({ deliveryIds: ['1', '2'] });
  expect(batch!.eventType).toBeUndefined();
});

it('has no more to do with batches that are closed', () => {
  const open = new OpenBatches();
  const batch = claimed(open.ids.live, LIVE, ['1']);
  expect(open.has(batch)).toBe(true);
  open.add(batch);
  open.close();
  expect(open.has(batch)).toBe(false);
  expect([open.isEmpty, open.capacity]).toEqual([true, 100]);
});
