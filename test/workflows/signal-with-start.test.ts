import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { expect, it, onTestFinished } from 'vitest';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { type WorkflowCommand, WorkflowCommandKind } from '../../proto/gen/payments/outbox/v1/outbox_pb.js';
import { workflowId, workflowType } from '../../services/contracts/accounts/notify-contact.contract.ts';
import { executeCommand } from '../../workflows/relay/command-relay.ts';
import { START_SETTINGS } from '../../workflows/start-settings.ts';
import { WorkflowClient } from '../../workflows/temporal/workflow-client.ts';
import { newTenant } from '../support/harness.ts';
import { startTemporal, TEMPORAL_START_MS } from '../support/temporal.ts';

const MAX_SIGNALS = 3;

it(
  'a workflow that is started while it runs receives as many signals as Temporal allows, and later starts succeed too',
  async () => {
    await using temporal = await startTemporal({
      serverArguments: ['--dynamic-config-value', `history.maximumSignalsPerExecution=${MAX_SIGNALS}`],
    });
    const connection = await NativeConnection.connect({ address: temporal.address });
    onTestFinished(() => connection.close());
    const workflowClient = new WorkflowClient(new Client({ connection }), new AbortController().signal);
    const { merchantId } = newTenant(Environment.TEST);
    const command: WorkflowCommand = {
      $typeName: 'payments.outbox.v1.WorkflowCommand',
      id: merchantId,
      merchantId,
      environment: Environment.TEST,
      requestId: 'request',
      kind: WorkflowCommandKind.START,
      workflowType,
      workflowId: workflowId('WEBHOOK_ERROR', merchantId),
      signalName: '',
      argumentsJson: '[{}]',
    };
    for (let starts = 0; starts < MAX_SIGNALS + 2; starts += 1) {
      await executeCommand(workflowClient, START_SETTINGS, command);
    }
    const { events } = await temporal.client.workflow.getHandle(command.workflowId).fetchHistory();
    const signals = events!.filter((event) => event.workflowExecutionSignaledEventAttributes);
    expect(signals).toHaveLength(MAX_SIGNALS);
  },
  TEMPORAL_START_MS,
);
