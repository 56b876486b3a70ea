import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import {
  AttemptFailure,
  type Event,
  type ListenerDelivery,
  type OpenListenerResponse,
} from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { type SlotLimits, Slots } from '../../services/platform/process/slots.ts';
import { REQUEST_ID_HEADER } from '../../services/platform/rpc/call-context.ts';
import { environmentName } from '../../services/platform/tenant.ts';
import type { Access } from '../auth/access.ts';
import { callFor } from '../clients.ts';
import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import { type StreamMessage, sendEventStream } from '../http/event-stream.ts';
import { optionalTimestamp } from '../http/json-timestamp.ts';
import { parseJson, rejectBody, requireJson } from '../plugins/request-body.ts';
import { Problem } from '../problems/problem.ts';
import { serviceUnavailable } from '../problems/rpc-problems.ts';
import {
  eventsQuery,
  eventTrigger,
  listenerCreation,
  listenerDeliveryParams,
  listenerReport,
  listenerResend,
} from './listener.schema.ts';
import { noQuery } from './schemas.ts';

const SCOPE = 'webhooks:manage';
const LISTENERS = '/cli/v1/listeners';
const EVENTS = '/cli/v1/events';
/**
 * The limits on open streams: of a process, because each reads a few times a second while anyone publishes, and of an
 * API key.
 */
const STREAMS: SlotLimits = { live: 0, test: 250, perOwner: 3 };

/**
 * The channel of the command `merchant-payments`, on the sandbox's host only. It is not part of the public API,
 * because only our own program uses it; docs/webhooks.md describes the command.
 */
export function listenerRoutes(app: GatewayApp, dependencies: RouteDependencies): void {
  const closing = new AbortController();
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });
  const streams = new Streams(dependencies.access, closing.signal);
  openRoute(app, dependencies, streams);
  reportRoute(app, dependencies);
  triggerRoute(app, dependencies);
  resendRoute(app, dependencies);
  followRoute(app, dependencies, streams);
}

function openRoute(app: GatewayApp, { clients, access }: RouteDependencies, streams: Streams): void {
  app.post(LISTENERS, withBody(access, 'openListener', listenerCreation), async (request, reply) => {
    const { signingSecret, forwardsTo, eventTypes = [] } = request.body;
    return streams.send(request, reply, async function* (signal) {
      const listener = { ...request.caller.tenant, signingSecret, forwardsTo, eventTypes };
      for await (const message of clients.webhookListeners.openListener(listener, stream(request, signal))) {
        yield listenerMessage(message);
      }
    });
  });
}

function listenerMessage({ message }: OpenListenerResponse): StreamMessage | undefined {
  switch (message.case) {
    case 'opened': {
      const { listenerId, eventTypes } = message.value;
      return { event: 'opened', data: { listenerId, eventTypes } };
    }
    case 'delivery':
      return { event: 'delivery', data: deliveryJson(message.value) };
    case undefined:
      return undefined;
    default:
      return message satisfies never;
  }
}

const deliveryJson = ({ deliveryId, eventId, eventType, headers, body }: ListenerDelivery) => ({
  deliveryId,
  eventId,
  eventType,
  headers,
  body: Buffer.from(body).toString(),
});

function reportRoute(app: GatewayApp, { clients, access }: RouteDependencies): void {
  const path = `${LISTENERS}/:listenerId/deliveries/:deliveryId`;
  const { schema, ...checks } = withBody(access, 'reportListenerDelivery', listenerReport);
  const options = { schema: { ...schema, params: listenerDeliveryParams }, ...checks };
  app.post(path, options, async (request, reply) => {
    const { listenerId, deliveryId } = request.params;
    const { status, failure, latencyMs, response = '' } = request.body;
    if ((status === undefined) === (failure === undefined)) {
      throw new Problem('INVALID_REQUEST', 'The body must have either /status or /failure.');
    }
    await clients.webhookListeners.reportListenerDelivery(
      {
        ...request.caller.tenant,
        listenerId: listenerId.toLowerCase(),
        deliveryId: deliveryId.toLowerCase(),
        outcome:
          failure === undefined
            ? { case: 'httpStatus', value: status! }
            : { case: 'failure', value: AttemptFailure[failure] },
        latencyMs,
        responseExcerpt: response.toWellFormed().replaceAll('\0', '\ufffd'),
      },
      callFor(request),
    );
    return reply.code(204).send();
  });
}

function triggerRoute(app: GatewayApp, { clients, access }: RouteDependencies): void {
  app.post(EVENTS, withBody(access, 'triggerEvent', eventTrigger), async (request, reply) => {
    const event = { ...request.caller.tenant, idempotencyKey: request.id, eventType: request.body.type };
    const { eventId } = await clients.webhookListeners.triggerEvent(event, callFor(request));
    return reply.code(201).send({ eventId });
  });
}

function resendRoute(app: GatewayApp, { clients, access }: RouteDependencies): void {
  app.post(
    '/cli/v1/resends',
    withBody(access, 'resendToListeners', listenerResend),
    async (request, reply) => {
      const eventId = request.body.eventId.toLowerCase();
      const resend = { ...request.caller.tenant, idempotencyKey: request.id, eventId };
      const { listenerCount } = await clients.webhookListeners.resendToListeners(resend, callFor(request));
      return reply.code(201).send({ listenerCount });
    },
  );
}

function followRoute(app: GatewayApp, { clients, access }: RouteDependencies, streams: Streams): void {
  const options = {
    schema: { querystring: eventsQuery },
    onRequest: access.withScope('followEvents', SCOPE),
    preValidation: rejectBody,
  };
  app.get(EVENTS, options, async (request, reply) => {
    const eventTypes = request.query.types?.split(',') ?? [];
    return streams.send(request, reply, async function* (signal) {
      const following = { ...request.caller.tenant, eventTypes };
      for await (const { event } of clients.webhookListeners.followEvents(
        following,
        stream(request, signal),
      )) {
        yield event && { event: 'event', data: eventJson(event) };
      }
    });
  });
}

/** An event as webhooks deliver it. */
const eventJson = ({ id, type, timestamp, environment, requestId, sequence, data }: Event) => ({
  id,
  type,
  timestamp: optionalTimestamp(timestamp),
  environment: environmentName(environment),
  requestId,
  sequence: Number(sequence),
  data,
});

/** Limits the streams of a key, and ends them when the key is revoked or expires. */
class Streams {
  readonly #access: Access;
  readonly #closing: AbortSignal;
  readonly #slots = new Slots(STREAMS);

  constructor(access: Access, closing: AbortSignal) {
    this.#access = access;
    this.#closing = closing;
  }

  async send(
    request: FastifyRequest,
    reply: Parameters<typeof sendEventStream>[0],
    open: Parameters<typeof sendEventStream>[2],
  ) {
    const release = this.#slots.acquire('test', request.caller.apiKeyId);
    if (release === 'PROCESS_LIMIT') throw serviceUnavailable();
    if (release === 'OWNER_LIMIT') {
      throw new Problem(
        'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED',
        `An API key may have ${STREAMS.perOwner} streams open; close one first.`,
      );
    }
    if (reply.raw.destroyed) release();
    else reply.raw.once('close', release);
    return sendEventStream(reply, this.#closing, (signal) => this.#whileAllowed(request, open(signal)));
  }

  async *#whileAllowed(request: FastifyRequest, messages: AsyncIterable<StreamMessage | undefined>) {
    for await (const message of messages) {
      if (!(await this.#access.isStillAllowed(request, SCOPE))) return;
      yield message;
    }
  }
}

/** Call options of a stream: it has no deadline. */
const stream = ({ id }: Pick<FastifyRequest, 'id'>, signal: AbortSignal) => ({
  headers: { [REQUEST_ID_HEADER]: id },
  signal,
});

/** The options of a route with a JSON body: the checks of an operation, in the API's order. */
const withBody = <Body extends TSchema>(access: Access, name: string, body: Body) => ({
  schema: { querystring: noQuery, body },
  onRequest: [access.withScope(name, SCOPE), requireJson],
  preValidation: parseJson,
});
