import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { expect, it, onTestFinished } from 'vitest';
import { Environment } from '../../../proto/gen/payments/merchant/v1/merchant_pb.js';
import {
  type WorkflowCommand,
  WorkflowCommandKind,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { workflowId, workflowType } from '../../../services/contracts/accounts/notify-contact.contract.ts';
import { WorkflowStarter } from '../../../workflows/relay/workflow-starter.ts';
import { newTenant } from '../../support/harness.ts';
import { startTemporal, TEMPORAL_START_MS } from '../../support/temporal.ts';

const MOST_SIGNALS = 3;

it(
  'a workflow that is told of its starts is told of as many as Temporal lets it, and the others are done too',
  async () => {
    await using temporal = await startTemporal([
      '--dynamic-config-value',
      `history.maximumSignalsPerExecution=${MOST_SIGNALS}`,
    ]);
    const connection = await NativeConnection.connect({ address: temporal.address });
    onTestFinished(() => connection.close());
    const starter = new WorkflowStarter(new Client({ connection }), new AbortController().signal);
    const { merchantId } = newTenant(Environment.TEST);
    const command: WorkflowCommand = {
      $typeName: 'payments.webhooks.v1.WorkflowCommand',
      ...{ id: merchantId, merchantId, environment: Environment.TEST, requestId: 'request' },
      ...{
        kind: WorkflowCommandKind.START,
        workflowType,
        workflowId: workflowId('WEBHOOK_ERROR', merchantId),
      },
      ...{ signalName: '', argumentsJson: '[{}]' },
    };
    for (let starts = 0; starts < MOST_SIGNALS + 2; starts += 1) await starter.carryOut(command);
    const { events } = await temporal.client.workflow.getHandle(command.workflowId).fetchHistory();
    const signals = events!.filter((event) => event.workflowExecutionSignaledEventAttributes);
    expect(signals).toHaveLength(MOST_SIGNALS);
  },
  TEMPORAL_START_MS,
);
