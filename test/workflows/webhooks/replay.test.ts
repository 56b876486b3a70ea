import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { createLogger } from '../../../services/platform/telemetry.ts';
import { installRuntime } from '../../../workflows/temporal-runtime.ts';
import { bundleWorkflows } from '../../../workflows/temporal-session.ts';
import { readHistories } from '../../support/recorded-histories.ts';

/**
 * What running workflows have behind them when a new version comes: delivery.test.ts records it anew into this folder
 * when RECORD_HISTORIES is set. A change that fails here needs patched() until those workflows have ended.
 */
const RECORDED = fileURLToPath(new URL('histories', import.meta.url));

it('goes on with the workflows of earlier versions where they stand', async () => {
  const logger = createLogger('fatal');
  installRuntime(logger);
  const workflowBundle = await bundleWorkflows(logger);
  const histories = readHistories(RECORDED);
  const replayed: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    expect(error, workflowId).toBeUndefined();
    replayed.push(workflowId);
  }
  expect(replayed).toHaveLength(histories.length);
  expect(new Set(replayed.map((name) => name.split('-')[0]))).toEqual(
    new Set(['deliverBatch', 'retryDelivery']),
  );
});
