import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { beforeAll, expect, it } from 'vitest';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { installRuntime } from '../../workflows/temporal/temporal-runtime.ts';
import { bundleWorkflows } from '../../workflows/worker-session.ts';
import * as workflows from '../../workflows/workflows.ts';
import { readHistories, whereItWaited } from '../support/recorded-histories.ts';

/**
 * What running workflows have behind them when a new version comes: the tests of workflows record it into the folder that
 * RECORD_HISTORIES names. Those of earlier versions stay: a change that fails here needs patched().
 */
const recorded = readHistories();

let workflowBundle: WorkflowBundleWithSourceMap;
beforeAll(async () => {
  const logger = createLogger('fatal');
  installRuntime(logger);
  workflowBundle = await bundleWorkflows(logger);
});

it('has a history of every workflow', () => {
  expect(Object.keys(workflows).length).toBeGreaterThan(10);
  expect(new Set(recorded.map(({ type }) => type))).toEqual(new Set(Object.keys(workflows)));
});

it.each([
  { where: 'from their beginning', histories: recorded },
  { where: 'where they wait', histories: recorded.flatMap(whereItWaited) },
])('goes on with workflows of earlier versions $where', async ({ histories }) => {
  const replayed: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    expect(error, workflowId).toBeUndefined();
    replayed.push(workflowId);
  }
  expect(replayed.length).toBeGreaterThanOrEqual(Object.keys(workflows).length);
  expect(replayed).toHaveLength(histories.length);
});
