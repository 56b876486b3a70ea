import { randomUUID } from 'node:crypto';
import { createClient, createRouterTransport } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { refundProviderService } from '../../../local/demo/connector/connector.services.ts';
import { ConnectorStore } from '../../../local/demo/connector/connector-store.ts';
import { OutcomeReporter } from '../../../local/demo/connector/outcome-reporter.ts';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { RefundProviderService } from '../../../proto/gen/payments/providers/v1/providers_pb.js';
import { RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { DAY_MS } from '../../../services/platform/durations.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';

const logger = createLogger('silent');
const IN_A_YEAR = new Date(Date.now() + 365 * DAY_MS);

test('a refund is executed once, even if it is submitted again with the number of another execution', async () => {
  using stack = new DisposableStack();
  const store = stack.adopt(new ConnectorStore(':memory:'), (opened) => opened.close());
  const transport = createRouterTransport(({ service }) => {
    service(RefundProviderService, refundProviderService(store));
  });
  const provider = createClient(RefundProviderService, transport);
  const refund = {
    merchantId: randomUUID(),
    environment: Environment.LIVE,
    refundCaseId: randomUUID(),
    amountMinor: 1_000n,
  };
  const first = await provider.submitRefund({ ...refund, execution: 2 });
  expect(first.result.case).toBe('accepted');
  const reports = store.dueReports(IN_A_YEAR);
  expect(reports).toHaveLength(1);
  expect(await provider.submitRefund({ ...refund, execution: 1 })).toEqual(first);
  expect(store.dueReports(IN_A_YEAR)).toEqual(reports);
});

test('a file that cannot be read for a while delays the reports', async () => {
  const store = new ConnectorStore(':memory:');
  store.close();
  const refunds = createClient(
    RefundCaseService,
    createRouterTransport(() => undefined),
  );
  const reporter = new OutcomeReporter(store, refunds, logger);
  await expect(reporter.stop()).resolves.toBeUndefined();
});
