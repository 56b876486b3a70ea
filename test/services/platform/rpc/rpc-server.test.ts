import { once } from 'node:events';
import { connect } from 'node:net';
import { createClient } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { ProductService } from '../../../../proto/gen/payments/catalog/v1/catalog_pb.js';
import { newTenant, startHarness } from '../../../support/harness.ts';

test.each(['grpc', 'connect'] as const)(
  'the port closes at once when its %s connections are idle',
  async (way) => {
    const harness = await startHarness({ SERVICES: 'catalog' });
    const client = createClient(ProductService, harness.transports[way]);
    await client.listProducts(newTenant());
    const from = performance.now();
    await harness.close();
    expect(performance.now() - from).toBeLessThan(2_500);
    await expect(client.listProducts(newTenant())).rejects.toThrow();
  },
);

test('the port closes at once even if a connection has never sent a byte', async () => {
  const harness = await startHarness({ SERVICES: 'catalog' });
  const silent = connect(Number(new URL(harness.baseUrl).port));
  await once(silent, 'connect');
  await createClient(ProductService, harness.transports.connect).listProducts(newTenant());
  const from = performance.now();
  await Promise.all([harness.close(), once(silent, 'close')]);
  expect(performance.now() - from).toBeLessThan(2_500);
});
