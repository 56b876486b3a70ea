import { createClient, createRouterTransport } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { WorkflowCommandService } from '../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { workflowTransport } from '../../workflows/workflow-transport.ts';

it('a call has a deadline, by default of ten seconds', async () => {
  const deadlines: (number | undefined)[] = [];
  const services = createRouterTransport(({ rpc }) => {
    rpc(WorkflowCommandService.method.endStarts, (_request, { timeoutMs }) => {
      deadlines.push(timeoutMs());
      return {};
    });
  });
  const commands = createClient(WorkflowCommandService, workflowTransport(services));
  await commands.endStarts({ commandIds: [] });
  await commands.endStarts({ commandIds: [] }, { timeoutMs: 60_000 });
  expect(deadlines[0]).toBeGreaterThan(9_000);
  expect(deadlines[0]).toBeLessThanOrEqual(10_000);
  expect(deadlines[1]).toBeGreaterThan(10_000);
});
