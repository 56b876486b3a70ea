import { setTimeout as delay } from 'node:timers/promises';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { REFUSALS } from '../../../workflows/final-refusal.ts';

/** Every process would answer a call with these codes alike. */
const FINAL: ReadonlySet<Code> = new Set([
  ...REFUSALS,
  Code.PermissionDenied,
  Code.Unauthenticated,
  Code.Unimplemented,
]);

/** A paused process accepts a call and does not answer it. */
const CALL_TIMEOUT_MS = 3_000;
const BETWEEN_MS = 100;
const GIVE_UP_MS = 120_000;

/**
 * Calls one of several equivalent processes, and repeats a call without an answer at the next one. Only for reads,
 * and for writes with an idempotency key.
 */
export function failover(transports: readonly Transport[]): Transport {
  let current = 0;
  return {
    ...transports[0]!,
    async unary(method, signal, timeoutMs, header, message, contextValues) {
      const giveUpAt = Date.now() + GIVE_UP_MS;
      for (;;) {
        const used = current;
        const { unary } = transports[used]!;
        try {
          return await unary(method, signal, timeoutMs ?? CALL_TIMEOUT_MS, header, message, contextValues);
        } catch (error) {
          if (FINAL.has(ConnectError.from(error).code) || Date.now() > giveUpAt) throw error;
          if (current === used) current = (used + 1) % transports.length;
          await delay(BETWEEN_MS);
        }
      }
    },
  };
}
