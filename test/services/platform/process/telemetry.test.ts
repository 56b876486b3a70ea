import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code, ConnectError } from '@connectrpc/connect';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { expect, test, vi } from 'vitest';
import { ErrorInfoSchema } from '../../../../proto/gen/google/rpc/error_details_pb.js';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { ProviderError } from '../../../../workflows/call-provider.ts';
import { sdkLogger } from '../../../../workflows/sdk-logger.ts';

/** The lines that are logged, and the text of the file. */
async function logged(log: (logger: Logger) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'payments-log-'));
  const file = join(folder, 'test.log');
  const logger = createLogger('info', file);
  log(logger);
  logger.info('end');
  await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('"msg":"end"'));
  const text = readFileSync(file, 'utf8');
  rmSync(folder, { recursive: true });
  const lines = text.trim().split('\n').slice(0, -1);
  return { text, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test('an error is logged with its causes and plain fields, without descriptors', async () => {
  const detail = { desc: ErrorInfoSchema, value: { reason: 'DATABASE_UNAVAILABLE', domain: 'payments' } };
  const cause = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
  const error = new ConnectError('try again', Code.Unavailable, undefined, [detail], cause);
  const { lines, text } = await logged((logger) => logger.error({ err: error }, 'RPC failed'));
  const message = expect.stringContaining('connection refused');
  const stack = expect.stringContaining('telemetry.test');
  const err = { type: 'ConnectError', code: Code.Unavailable, message, stack };
  expect(lines).toMatchObject([{ msg: 'RPC failed', err }]);
  expect(text).not.toContain('typeName');
  expect(text.length).toBeLessThan(10_000);
});

test('a warning that something is unavailable has a reason instead of a stack', async () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
  const { lines, text } = await logged((logger) => {
    const child = logger.child({ part: 'lanes' });
    child.warn({ err: refused, task: 'sweep' }, 'periodic task failed');
    child.warn({ err: new ConnectError('no services', Code.Unavailable) }, 'the relay is interrupted');
    child.warn({ task: 'sweep' }, 'no error');
    child.warn('no fields');
  });
  expect(lines).toMatchObject([
    { part: 'lanes', task: 'sweep', reason: `Error: ${refused.message}`, msg: 'periodic task failed' },
    { reason: 'ConnectError: [unavailable] no services', msg: 'the relay is interrupted' },
    { task: 'sweep', msg: 'no error' },
    { msg: 'no fields' },
  ]);
  expect(text).not.toContain('stack');
});

const ID = '01a22afd-cfa2-72ac-b2a8-28342589f73f';

test('a workflow that ends with a failed activity is one line with the cause, and a call that fails has no stack', async () => {
  const cause = ApplicationFailure.nonRetryable('the account is closed', 'PAYOUT_REFUSED');
  const failure = new ActivityFailure(
    'Activity task failed',
    'submitPayout',
    '1',
    'NON_RETRYABLE_FAILURE',
    'x',
    cause,
  );
  const { lines } = await logged((logger) => {
    const sdk = sdkLogger(logger);
    sdk.warn('Activity failed', { error: cause, durationMs: 1 });
    sdk.warn('Workflow failed', { error: failure, workflowId: 'payout-1' });
    sdk.warn('Activity failed', { error: new Error('it is retried'), durationMs: 1, taskToken: 'CiQx' });
    sdk.warn('Activity failed', { error: new ConnectError('no services', Code.Unavailable) });
    sdk.warn('Activity failed', { error: new ProviderError('no provider'), workflowId: `refund-${ID}-2` });
    sdk.warn('Workflow not registered', { workflowId: `notice-ADVANCE_UNPAID-${ID}` });
    sdk.warn('Workflow not registered', { workflowId: `refund-funding-${ID}` });
  });
  expect(lines).toMatchObject([
    {
      msg: 'Workflow failed',
      workflowId: 'payout-1',
      err: { message: expect.stringContaining('the account is closed') },
    },
    { msg: 'Activity failed', err: { message: 'it is retried' } },
    { msg: 'Activity failed', reason: 'ConnectError: [unavailable] no services' },
    { msg: 'Activity failed', reason: 'ProviderError: no provider', refundCaseId: ID },
    { advanceRequestId: ID },
    { workflowId: `refund-funding-${ID}` },
  ]);
  expect(lines.at(-1)).not.toHaveProperty('refundCaseId');
  for (const line of lines) expect(line).not.toHaveProperty('taskToken');
});
