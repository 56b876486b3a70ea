import { Code, ConnectError } from '@connectrpc/connect';
import { describe, expect, it } from 'vitest';
import { retrying } from '../../workflows/retrying.ts';

const codeOf = (error: unknown) => ConnectError.from(error).code;

/** Fails with the codes in turn, then answers; counts its calls. */
function failing(...codes: Code[]) {
  const call = Object.assign(
    async () => {
      const code = codes[call.count++];
      if (code !== undefined) throw new ConnectError('no', code);
      return 'done';
    },
    { count: 0 },
  );
  return call;
}

describe('retrying', () => {
  it('repeats a call until the error is gone', async () => {
    const call = failing(Code.Unavailable, Code.DeadlineExceeded, Code.Internal);
    expect(await retrying(call, { forMs: 5_000, codeOf })).toBe('done');
    expect(call.count).toBe(4);
  });

  it.each([Code.InvalidArgument, Code.NotFound, Code.PermissionDenied, Code.FailedPrecondition])(
    'throws a refusal at once (code %s)',
    async (code) => {
      const call = failing(code);
      await expect(retrying(call, { forMs: 5_000, codeOf })).rejects.toMatchObject({ code });
      expect(call.count).toBe(1);
    },
  );

  it('gives up with the last error when the time since the first failure is over', async () => {
    const call = failing(...Array<Code>(50).fill(Code.Unavailable));
    await expect(retrying(call, { forMs: 400, codeOf })).rejects.toMatchObject({ code: Code.Unavailable });
    expect(call.count).toBeGreaterThan(2);
    expect(call.count).toBeLessThan(6);
  });

  it('ends its pause and gives up when it is stopped', async () => {
    const call = failing(...Array<Code>(50).fill(Code.Unavailable));
    const startedAt = performance.now();
    const signal = AbortSignal.timeout(250);
    await expect(retrying(call, { forMs: 60_000, codeOf, signal })).rejects.toThrow();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
