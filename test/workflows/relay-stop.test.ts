import { createClient, createRouterTransport } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { WorkflowCommandKind, WorkflowCommandService } from '../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { startCommandRelay } from '../../workflows/relay/command-relay.ts';
import { START_SETTINGS } from '../../workflows/start-settings.ts';
import { WorkflowClient } from '../../workflows/temporal/workflow-client.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';

it('a stopping relay processes the commands of its claim in progress instead of leaving them to their lease', async () => {
  await using temporal = await createTestNamespace();
  const answer = Promise.withResolvers<void>();
  const claimed = Promise.withResolvers<void>();
  const confirmed: string[] = [];
  const deadlines: (number | undefined)[] = [];
  const transport = createRouterTransport(({ service }) => {
    service(WorkflowCommandService, {
      claimCommands: async (_request, { timeoutMs }) => {
        deadlines.push(timeoutMs());
        claimed.resolve();
        await answer.promise;
        const { SIGNAL } = WorkflowCommandKind;
        return {
          commands: [{ id: 'c1', kind: SIGNAL, workflowId: 'w1', signalName: 's', argumentsJson: '[]' }],
        };
      },
      confirmCommands: ({ commandIds }, { timeoutMs }) => {
        deadlines.push(timeoutMs());
        confirmed.push(...commandIds);
        return {};
      },
    });
  });
  const relay = startCommandRelay({
    commands: createClient(WorkflowCommandService, transport),
    temporal: new WorkflowClient(temporal.client, new AbortController().signal),
    startSettings: START_SETTINGS,
    logger: createLogger('silent'),
  });
  await claimed.promise;
  const stopping = relay.stop();
  answer.resolve();
  await stopping;
  expect(confirmed).toEqual(['c1']);
  // Services that are frozen never answer: without a deadline the relay would wait for them forever.
  expect(deadlines).toEqual([expect.any(Number), expect.any(Number)]);
});
