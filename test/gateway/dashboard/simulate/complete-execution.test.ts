import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import type { View } from '../../../../gateway/dashboard/shell/view.ts';
import { completeExecution } from '../../../../gateway/dashboard/simulate/refunds/complete-execution.ts';
import { RefundDebitOutcome } from '../../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { callError } from '../../../../services/platform/rpc/connect-errors.ts';

/** Records the outcome of an execution for which funds give these answers, in order. */
async function outcomeAfter(answers: readonly ('covered' | 'queued' | 'DEBITED' | string)[]) {
  const left = [...answers];
  const next = () => left.shift() ?? expect.fail('a call too many');
  const refuse = (reason: string) => Promise.reject(callError(Code.FailedPrecondition, reason, reason));
  const keys: string[] = [];
  let recorded: RefundDebitOutcome | undefined;
  const refundCase = { amountMinor: 1_000n, executions: 1, executionStartedAt: { seconds: 1n, nanos: 0 } };
  const clients = {
    refundCases: {
      getRefundCase: () => Promise.resolve({ refundCase }),
      recordRefundDebit({ outcome }: { outcome: RefundDebitOutcome }) {
        recorded = outcome;
        return Promise.resolve({});
      },
    },
    funds: {
      debitForRefund({ idempotencyKey }: { idempotencyKey: string }) {
        keys.push(idempotencyKey);
        const answer = next();
        return answer === 'DEBITED' ? Promise.resolve({}) : refuse(answer);
      },
      awaitFunding({ idempotencyKey }: { idempotencyKey: string }) {
        keys.push(idempotencyKey);
        const answer = next();
        const isAnswer = answer === 'covered' || answer === 'queued';
        return isAnswer ? Promise.resolve({ covered: answer === 'covered' }) : refuse(answer);
      },
    },
  };
  const write = { idempotencyKey: randomUUID(), refundCaseId: randomUUID() };
  await completeExecution({ clients } as unknown as View, write);
  expect(left).toEqual([]);
  expect(new Set(keys).size).toBe(keys.length);
  return recorded;
}

const { DEBITED, INSUFFICIENT } = RefundDebitOutcome;
const LACKING = 'INSUFFICIENT_AVAILABLE_BALANCE';
const ENDED = 'REFUND_EXECUTION_ENDED';

it('debits a refund or queues it, also when the balance rises and falls between the calls', async () => {
  expect(await outcomeAfter(['DEBITED'])).toBe(DEBITED);
  expect(await outcomeAfter([LACKING, 'queued'])).toBe(INSUFFICIENT);
  expect(await outcomeAfter([LACKING, 'covered', 'DEBITED'])).toBe(DEBITED);
  expect(await outcomeAfter([LACKING, 'covered', LACKING, 'queued'])).toBe(INSUFFICIENT);
  expect(await outcomeAfter([LACKING, 'covered', LACKING, 'covered', 'DEBITED'])).toBe(DEBITED);
});

it('records that the workflow has queued the refund', async () => {
  expect(await outcomeAfter([ENDED])).toBe(INSUFFICIENT);
  expect(await outcomeAfter([LACKING, ENDED])).toBe(INSUFFICIENT);
});
