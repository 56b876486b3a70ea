import { Worker } from '@temporalio/worker';
import { beforeAll, expect, it } from 'vitest';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { installRuntime } from '../../workflows/temporal/temporal-runtime.ts';
import * as workflows from '../../workflows/workflows.ts';
import { historyPrefixes, readHistories } from '../support/recorded-histories.ts';
import { testWorkflowBundle } from '../support/temporal-namespace.ts';

/**
 * Histories of workflows, replayed on the current code. To record one, run the tests of its area with
 * `RECORD_HISTORIES=<folder> npx vitest run test/workflows/<area>`, and copy the file that covers most of the workflow
 * from that folder to test/workflows/<area>/histories. Those of 1.0.0 stay as they are, and a change that fails here needs
 * patched().
 */
const recorded = readHistories();

beforeAll(() => installRuntime(createLogger('fatal')));

it('has a history of every workflow', () => {
  expect(Object.keys(workflows).length).toBeGreaterThan(10);
  expect(new Set(recorded.map(({ type }) => type))).toEqual(new Set(Object.keys(workflows)));
});

it.each([
  { where: 'from their beginning', histories: recorded },
  { where: 'where they wait', histories: recorded.flatMap(historyPrefixes) },
])('goes on with workflows of earlier versions $where', async ({ histories }) => {
  const replayed: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle: testWorkflowBundle() },
    histories,
  )) {
    expect(error, workflowId).toBeUndefined();
    replayed.push(workflowId);
  }
  expect(replayed.length).toBeGreaterThanOrEqual(Object.keys(workflows).length);
  expect(replayed).toHaveLength(histories.length);
});
