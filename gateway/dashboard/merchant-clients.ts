import type { Message } from '@bufbuild/protobuf';
import { type CallOptions, type Client, Code, createClient, type Transport } from '@connectrpc/connect';
import { AccountService } from '../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { DeliveryService, type EventService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { callError } from '../../services/platform/rpc/connect-errors.ts';
import type { TenantFields } from '../../services/platform/tenant.ts';
import { createClients } from '../clients.ts';

/** The largest page of list RPCs, except for advance requests, and the most ids that they take. */
export const MAX_PAGE_SIZE = 100;

/** A request without the fields that name its merchant. */
type PageRequest<Request> =
  Request extends AsyncIterable<infer One>
    ? AsyncIterable<PageRequest<One>>
    : Request extends Message
      ? never
      : { [Field in keyof Request]: Field extends keyof TenantFields ? undefined : Request[Field] };

/** The request of an RPC, or one of those that it streams. */
type RequestOf<Rpc> = Rpc extends (request: infer Request) => unknown
  ? Request extends AsyncIterable<infer One>
    ? One
    : Request
  : never;

/** A client of the RPCs that name a merchant. */
type MerchantClient<Unbound> = {
  [Name in keyof Unbound as keyof TenantFields extends keyof RequestOf<Unbound[Name]>
    ? Name
    : never]: Unbound[Name] extends (request: infer Request) => infer Response
    ? (request: PageRequest<Request>, options?: Pick<CallOptions, 'signal'>) => Response
    : never;
};

function createUnboundClients(transport: Transport) {
  return {
    ...createClients(transport),
    accounts: createClient(AccountService, transport),
    deliveries: createClient(DeliveryService, transport),
  };
}

type UnboundClients = ReturnType<typeof createUnboundClients>;

/** Clients that add the merchant and environment of a page to each of its requests: a page can neither omit nor choose them. */
export type MerchantClients = {
  readonly [Name in keyof UnboundClients]: MerchantClient<UnboundClients[Name]>;
} & {
  /** The catalog of event types is the same for all merchants. */
  readonly events: Pick<Client<typeof EventService>, 'listEventTypes'>;
};

/**
 * Creates the clients of a page.
 * @param call the headers and the deadline of every call. A download has to begin within it; then the browser sets the pace
 */
export function createMerchantClients(
  transport: Transport,
  tenant: TenantFields,
  { headers, timeoutMs }: CallOptions,
): MerchantClients {
  return createUnboundClients({
    unary: (method, signal, _timeoutMs, _headers, request) =>
      transport.unary(method, signal, timeoutMs, headers, Object.assign({}, request, tenant)),
    stream(method, signal, _timeoutMs, _headers, requests) {
      const open = (until: AbortSignal | undefined, deadlineMs?: number) =>
        transport.stream(method, until, deadlineMs, headers, withTenant(requests, tenant));
      return method.methodKind === 'client_streaming'
        ? open(signal, timeoutMs)
        : openedWithin(timeoutMs, signal, open);
    },
  });
}

/** Opens a stream, which sends its headers with its first message. DEADLINE_EXCEEDED if that takes too long. */
async function openedWithin<Stream>(
  timeoutMs: number | undefined,
  signal: AbortSignal | undefined,
  open: (until: AbortSignal) => Promise<Stream>,
): Promise<Stream> {
  const opening = new AbortController();
  const onDeadline = () =>
    opening.abort(callError(Code.DeadlineExceeded, 'DEADLINE_EXCEEDED', 'the stream has not begun in time'));
  const timer = timeoutMs === undefined ? undefined : setTimeout(onDeadline, timeoutMs);
  try {
    return await open(AbortSignal.any([opening.signal, ...(signal ? [signal] : [])]));
  } finally {
    clearTimeout(timer);
  }
}

/** The first message of a stream names the merchant. */
async function* withTenant<Request>(requests: AsyncIterable<Request>, tenant: TenantFields) {
  let fields: TenantFields | undefined = tenant;
  for await (const request of requests) {
    yield Object.assign({}, request, fields);
    fields = undefined;
  }
}
