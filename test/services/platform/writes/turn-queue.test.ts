import { Code } from '@connectrpc/connect';
import { expect, it, vi } from 'vitest';
import { TurnQueue } from '../../../../services/platform/writes/turn-queue.ts';

it('does not run a call whose caller has disconnected: its idempotency key stays free for the next', async () => {
  const queue = new TurnQueue({ atOnce: 1, maxWaitMs: 1_000, onTimeout: async () => new Error('late') });
  const call = vi.fn(async () => 'answered');
  await expect(queue.run('account', AbortSignal.abort(), call)).rejects.toMatchObject({
    code: Code.Canceled,
  });
  expect(call).not.toHaveBeenCalled();
  expect(await queue.run('account', new AbortController().signal, call)).toBe('answered');
});
