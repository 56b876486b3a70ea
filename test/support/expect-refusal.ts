import { type Code, ConnectError } from '@connectrpc/connect';
import { expect } from 'vitest';
import { errorInfoOf } from '../../services/platform/rpc/connect-errors.ts';

/** Expects an RPC to be refused with this code and reason, and this metadata if any. */
export async function expectRefusal(
  call: Promise<unknown>,
  code: Code,
  reason: string,
  metadata: Record<string, string> = {},
): Promise<void> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ConnectError);
  expect((error as ConnectError).code).toBe(code);
  expect(errorInfoOf(error)).toMatchObject({ reason, domain: 'payments', metadata });
}
