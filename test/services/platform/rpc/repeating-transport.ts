import { randomUUID } from 'node:crypto';
import type { DescMethod } from '@bufbuild/protobuf';
import type { Transport } from '@connectrpc/connect';
import { createAsyncIterable } from '@connectrpc/connect/protocol';
import { REPLAYED_HEADER, REQUEST_ID_HEADER } from '../../../../services/platform/rpc/call-context.ts';

/** A call that succeeded: its RPC, its request's id and its answer's text. */
export interface RepeatedCall {
  readonly method: DescMethod;
  readonly requestId: string;
  readonly answer: string;
  /** The same call made once more, if it had an idempotency key: its answer's text, and whether that says it is a replay. */
  readonly replay: { readonly answer: string; readonly isMarked: boolean } | undefined;
}

export const isKeyed = ({ input }: DescMethod) => input.fields.some(({ name }) => name === 'idempotency_key');

const asText = (value: unknown) =>
  JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member));

const replayOf = (header: Headers, answer: unknown) => ({
  answer: asText(answer),
  isMarked: header.get(REPLAYED_HEADER) === 'true',
});

/**
 * A transport that gives each call its own request id, and makes each call with an idempotency key twice. `calls`
 * records those that succeed, and streams that are read.
 */
export function repeatingTransport(transport: Transport, calls: RepeatedCall[]): Transport {
  return {
    stream: async (method, signal, timeoutMs, header, input, values) => {
      const sent = await Array.fromAsync(input);
      const act = (requestId: string) => {
        const headers = new Headers(header);
        headers.set(REQUEST_ID_HEADER, requestId);
        return transport.stream(method, signal, timeoutMs, headers, createAsyncIterable(sent), values);
      };
      const requestId = randomUUID();
      const answer = await act(requestId);
      // A feed has no end.
      if (!isKeyed(method)) {
        calls.push({ method, requestId, answer: '', replay: undefined });
        return answer;
      }
      const messages = await Array.fromAsync(answer.message);
      const again = await act(randomUUID());
      const replay = replayOf(again.header, await Array.fromAsync(again.message));
      calls.push({ method, requestId, answer: asText(messages), replay });
      return { ...answer, message: createAsyncIterable(messages) };
    },
    unary: async (method, signal, timeoutMs, header, input, values) => {
      const act = (requestId: string) => {
        const headers = new Headers(header);
        headers.set(REQUEST_ID_HEADER, requestId);
        return transport.unary(method, signal, timeoutMs, headers, input, values);
      };
      const requestId = randomUUID();
      const answer = await act(requestId);
      const again = isKeyed(method) ? await act(randomUUID()) : undefined;
      const replay = again && replayOf(again.header, again.message);
      calls.push({ method, requestId, answer: asText(answer.message), replay });
      return answer;
    },
  };
}
