import {
  create,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { Transport, UnaryResponse } from '@connectrpc/connect';
import { findTrailerError } from '@connectrpc/connect/protocol-grpc';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';

/** What a call may carry besides its message. */
interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly header?: ConstructorParameters<typeof Headers>[0];
}

/** The official gRPC client of Node.js in place of Connect's. */
export class GrpcJsClient implements Disposable {
  readonly #client: Client;
  readonly #token: string;

  constructor(baseUrl: string, token: string) {
    this.#client = new Client(new URL(baseUrl).host, credentials.createInsecure());
    this.#token = token;
  }

  /** The same client as a transport for Connect's typed calls, unary ones only. */
  readonly transport: Transport = {
    unary: async (method, signal, timeoutMs, header, input) => {
      const message = await this.call(method, input, { signal, timeoutMs, header });
      return {
        stream: false,
        service: method.parent,
        method,
        header: new Headers(),
        trailer: new Headers(),
        message,
      };
    },
    stream: () => Promise.reject(new Error('streams are not tested over grpc-js')),
  };

  /** Rejects with the ServiceError of grpc-js. */
  call<Method extends DescMethodUnary>(
    method: Method,
    input: MessageInitShape<Method['input']>,
    { signal, timeoutMs, header }: CallOptions = {},
  ): Promise<UnaryResponse<Method['input'], Method['output']>['message']> {
    const metadata = new Metadata();
    for (const [name, value] of new Headers(header)) metadata.set(name, value);
    metadata.set('authorization', `Bearer ${this.#token}`);
    return new Promise((resolve, reject) => {
      const call = this.#client.makeUnaryRequest(
        `/${method.parent.typeName}/${method.name}`,
        (message: MessageInitShape<Method['input']>) =>
          Buffer.from(toBinary(method.input, create(method.input, message))),
        (bytes: Buffer) => fromBinary<Method['output']>(method.output, bytes),
        input,
        metadata,
        timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs },
        (error, answer) => (answer ? resolve(answer) : reject(error)),
      );
      signal?.addEventListener('abort', () => call.cancel(), { once: true });
    });
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

/** The error that the status and the trailers of a refused call describe, with its details. */
export function connectErrorOf(error: ServiceError): Error | undefined {
  const trailer = new Headers({ 'grpc-status': `${error.code}` });
  const [details] = error.metadata.get('grpc-status-details-bin');
  if (Buffer.isBuffer(details)) trailer.set('grpc-status-details-bin', details.toString('base64'));
  return findTrailerError(trailer);
}
