import { randomUUID } from 'node:crypto';
import type { DescMethod } from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import { ACTOR_HEADERS, REQUEST_ID_HEADER } from '../../../../services/platform/rpc/call-context.ts';

/** A call that succeeded: its RPC, its request's id and its answer's text. */
export interface ActedCall {
  readonly method: DescMethod;
  readonly requestId: string;
  readonly answer: string;
  /** The request's id of the same call made once more, if it had an idempotency key. */
  readonly replayRequestId: string | undefined;
}

export const isKeyed = ({ input }: DescMethod) => input.fields.some(({ name }) => name === 'idempotency_key');

const asText = (value: unknown) =>
  JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member));

/**
 * A transport on which a person makes every call, each with a request id of its own, and each that has an idempotency
 * key twice. `calls` notes those that succeed.
 */
export function actingTransport(
  transport: Transport,
  actor: { readonly accountId: string; readonly ipAddress: string },
  calls: ActedCall[],
): Transport {
  return {
    ...transport,
    unary: async (method, signal, timeoutMs, header, input, values) => {
      const act = (requestId: string) => {
        const headers = new Headers(header);
        headers.set(ACTOR_HEADERS.accountId, actor.accountId);
        headers.set(ACTOR_HEADERS.ipAddress, actor.ipAddress);
        headers.set(REQUEST_ID_HEADER, requestId);
        return transport.unary(method, signal, timeoutMs, headers, input, values);
      };
      const requestId = randomUUID();
      const answer = await act(requestId);
      const replayRequestId = isKeyed(method) ? randomUUID() : undefined;
      if (replayRequestId) await act(replayRequestId);
      calls.push({ method, requestId, answer: asText(answer.message), replayRequestId });
      return answer;
    },
  };
}
