import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { createLogger } from '../../../services/platform/telemetry.ts';
import { installRuntime } from '../../../workflows/temporal-runtime.ts';
import { bundleWorkflows } from '../../../workflows/temporal-session.ts';
import { readHistories } from '../../support/recorded-histories.ts';

/** Recorded by the tests beside this one into the folder that RECORD_HISTORIES names; those of earlier versions stay. */
const RECORDED = fileURLToPath(new URL('histories', import.meta.url));

it('goes on with the funds workflows of earlier versions where they stand', async () => {
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
    new Set(['releaseDailyFunds', 'verifyAllFunds']),
  );
});
