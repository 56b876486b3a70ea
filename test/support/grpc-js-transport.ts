import { once } from 'node:events';
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { Transport, UnaryResponse } from '@connectrpc/connect';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import { Client, type ClientWritableStream, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';

/** The options of a call. */
interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly header?: ConstructorParameters<typeof Headers>[0];
}

/** The official gRPC client of Node.js in place of Connect's. */
export class GrpcJsClient implements Disposable {
  readonly #client: Client;
  readonly #token: string | undefined;

  /** @param tls Default: none. */
  constructor(baseUrl: string, token: string | undefined, tls = credentials.createInsecure()) {
    this.#client = new Client(new URL(baseUrl).host, tls);
    this.#token = token;
  }

  /** The same client as a transport for Connect's typed calls, all but those with two streams. */
  readonly transport: Transport = {
    unary: async (method, signal, timeoutMs, header, input) => ({
      ...answerTo(method),
      stream: false,
      message: await this.call(method, input, { signal, timeoutMs, header }),
    }),
    stream: async (method, signal, timeoutMs, header, input) => ({
      ...answerTo(method),
      stream: true,
      message: this.#stream(method, input, { signal, timeoutMs, header }),
    }),
  };

  async *#stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    input: AsyncIterable<MessageInitShape<I>>,
    options: CallOptions,
  ): AsyncGenerator<MessageShape<O>> {
    try {
      if (method.methodKind === 'client_streaming') yield await this.#upload(method, input, options);
      else yield* this.#download(method, input, options);
    } catch (error) {
      throw isServiceError(error) ? (connectErrorOf(error) ?? error) : error;
    }
  }

  /** A call with a stream of requests. */
  #upload<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    input: AsyncIterable<MessageInitShape<I>>,
    options: CallOptions,
  ): Promise<MessageShape<O>> {
    return new Promise((resolve, reject) => {
      const call = this.#client.makeClientStreamRequest(
        ...this.#pathAndCodec(method),
        this.#metadata(options),
        callOptions(options),
        (error, answer) => (answer ? resolve(answer) : reject(error)),
      );
      options.signal?.addEventListener('abort', () => call.cancel(), { once: true });
      writeAll(call, input).catch((error: unknown) => {
        call.cancel();
        reject(error);
      });
    });
  }

  /** A call with a stream of responses. */
  async *#download<I extends DescMessage, O extends DescMessage>(
    method: DescMethodStreaming<I, O>,
    input: AsyncIterable<MessageInitShape<I>>,
    options: CallOptions,
  ): AsyncGenerator<MessageShape<O>> {
    for await (const message of input) {
      const call = this.#client.makeServerStreamRequest(
        ...this.#pathAndCodec(method),
        message,
        this.#metadata(options),
        callOptions(options),
      );
      options.signal?.addEventListener('abort', () => call.cancel(), { once: true });
      yield* call as AsyncIterable<MessageShape<O>>;
      return;
    }
  }

  /** Rejects with the ServiceError of grpc-js. */
  call<Method extends DescMethodUnary>(
    method: Method,
    input: MessageInitShape<Method['input']>,
    { signal, timeoutMs, header }: CallOptions = {},
  ): Promise<UnaryResponse<Method['input'], Method['output']>['message']> {
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        ...this.#pathAndCodec<Method['input'], Method['output']>(method),
        input,
        this.#metadata({ header }),
        callOptions({ timeoutMs }),
        (error, answer) => (answer ? resolve(answer) : reject(error)),
      );
      signal?.addEventListener('abort', () => call.cancel(), { once: true });
    });
  }

  #pathAndCodec<I extends DescMessage, O extends DescMessage>({
    parent,
    name,
    input,
    output,
  }: DescMethod & { readonly input: I; readonly output: O }) {
    const encode = (message: MessageInitShape<I>) => Buffer.from(toBinary(input, create(input, message)));
    const decode = (bytes: Buffer) => fromBinary<O>(output, bytes);
    return [`/${parent.typeName}/${name}`, encode, decode] as const;
  }

  #metadata({ header }: CallOptions): Metadata {
    const metadata = new Metadata();
    for (const [name, value] of new Headers(header)) metadata.set(name, value);
    if (this.#token !== undefined) metadata.set('authorization', `Bearer ${this.#token}`);
    return metadata;
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

const callOptions = ({ timeoutMs }: CallOptions) =>
  timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };

const answerTo = <Method extends DescMethod>(method: Method) => ({
  service: method.parent,
  method,
  header: new Headers(),
  trailer: new Headers(),
});

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && 'metadata' in error;

/** Writes at the pace of the server, until it ends the call. */
async function writeAll<T>(call: ClientWritableStream<T>, messages: AsyncIterable<T>): Promise<void> {
  let isEnded = false;
  const ended = once(call, 'status').then(() => {
    isEnded = true;
  });
  for await (const message of messages) {
    if (isEnded) return;
    if (!call.write(message)) await Promise.race([once(call, 'drain'), ended]);
  }
  call.end();
}

/** The error that the status and the trailers of a refused call describe, with its details. */
export function connectErrorOf(error: ServiceError): Error | undefined {
  const trailer = new Headers({ 'grpc-status': `${error.code}` });
  const [details] = error.metadata.get('grpc-status-details-bin');
  if (Buffer.isBuffer(details)) trailer.set('grpc-status-details-bin', details.toString('base64'));
  return findTrailerError(trailer);
}
