import { randomUUID } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, describe, expect, it } from 'vitest';
import { PROBLEM_TYPES, type ProblemCode } from '../../gateway/problems/problem-types.ts';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { DomainError, type ErrorKind } from '../../services/platform/errors.ts';
import { toConnectError } from '../../services/platform/rpc/connect-errors.ts';
import { ALL_SCOPES } from './gateway-harness.ts';
import { type Answer, type Call, call, sendRaw } from './http-call.ts';
import { type Document, type Documented, DocumentValidator, operationsOf } from './openapi-reader.ts';
import { startStandInGateway, UNAVAILABLE } from './stand-in-gateway.ts';

/**
 * Every documented error of an operation is provoked there, and has the documented response. Stand-ins for the
 * services fail as required.
 */

const { standIn, port, close } = await startStandInGateway();
const strict = await startStandInGateway({ RATE_LIMIT_LIVE: '1', HTTP_REQUEST_TIMEOUT: '300ms' });
const document: Document = (await call(port, '/openapi.json')).json;
const strictDocument: Document = (await call(strict.port, '/openapi.json')).json;
const validator = new DocumentValidator(document);
afterAll(() => Promise.all([close(), strict.close()]));

/** Requests that provoke the documented example of INVALID_REQUEST. */
const MALFORMED: Readonly<Record<string, { target?: string; body?: unknown }>> = {
  listRefundCases: { target: '/v1/refund-cases?limit=0' },
  getProduct: { target: '/v1/products/x' },
  listFundsReleases: { target: '/v1/funds/releases?from=2026-02-30' },
  getReleaseCalendar: { target: '/v1/funds/releases/calendar?month=2026-13' },
  listAdvanceRequests: { target: '/v1/advance/requests?limit=51' },
  createWebhookSubscription: { body: { url: 'https://hooks.example.com/', eventTypes: [] } },
  listWebhookSubscriptions: { target: '/v1/webhook-subscriptions?limit=101' },
  disableWebhookSubscription: { target: '/v1/webhook-subscriptions/x/disable' },
};

/** Refusals of a service, with its own messages. */
const REFUSALS: Partial<Record<ProblemCode, ConnectError>> = {
  ...refusals('UNAUTHENTICATED', 'API_KEY_INVALID', 'API_KEY_EXPIRED', 'API_KEY_ENVIRONMENT_MISMATCH'),
  ...refusals('NOT_FOUND', 'PRODUCT_NOT_FOUND', 'WEBHOOK_SUBSCRIPTION_NOT_FOUND'),
  ...refusals('ALREADY_EXISTS', 'WEBHOOK_SUBSCRIPTION_ALREADY_EXISTS', 'IDEMPOTENCY_KEY_REUSED'),
  ...refusals('FAILED_PRECONDITION', 'WEBHOOK_SUBSCRIPTION_LIMIT_REACHED'),
  ...refusals('ABORTED', 'IDEMPOTENCY_KEY_IN_USE'),
  INVALID_CURSOR: refusal('INVALID_ARGUMENT', 'INVALID_PAGE_TOKEN'),
  INVALID_WEBHOOK_URL: refusal(
    'INVALID_ARGUMENT',
    'INVALID_WEBHOOK_URL',
    'url: must use https. To receive sandbox webhooks on your own machine, run npx merchant-payments listen.',
  ),
  INVALID_EVENT_TYPE: refusal('INVALID_ARGUMENT', 'INVALID_EVENT_TYPE'),
  INTERNAL_ERROR: new ConnectError('never shown', Code.Internal),
  SERVICE_UNAVAILABLE: new ConnectError('never shown', Code.Unavailable),
  DEADLINE_EXCEEDED: new ConnectError('never shown', Code.DeadlineExceeded),
};

function refusal(kind: ErrorKind, reason: string, message = 'never shown'): ConnectError {
  return toConnectError(
    new DomainError(kind, reason, message, {
      environment: 'test',
      field: 'event_types[0]',
      event_type: 'refund.opened.v1',
      limit: '100',
    }),
  );
}

function refusals(kind: ErrorKind, ...reasons: ProblemCode[]) {
  return Object.fromEntries(reasons.map((reason) => [reason, refusal(kind, reason)]));
}

/** A request of the operation that succeeds, as documented. */
function requestOf({ method, path, operation }: Documented): { target: string; options: Call } {
  const id = operation.parameters.find(({ name }: { name: string }) => name === 'id')?.example;
  const body = operation.requestBody?.content['application/json'].example;
  return {
    target: path.replace('{id}', id),
    options: {
      method,
      key: newApiKey('live'),
      ...(body && { body, headers: { 'idempotency-key': randomUUID() } }),
    },
  };
}

function provoke(documented: Documented, code: ProblemCode): Promise<Answer> {
  const { operationId, method } = documented;
  const { target, options } = requestOf(documented);
  const { key, ...withoutKey } = options;
  const raw = (head: string) => `${method} ${head}`;
  switch (code) {
    case 'API_KEY_MISSING':
      return call(port, target, withoutKey);
    case 'INVALID_REQUEST': {
      const { target: malformed = target, body = options.body } = MALFORMED[operationId]!;
      return call(port, malformed, { ...options, body });
    }
    case 'IDEMPOTENCY_KEY_MISSING':
      return call(port, target, { ...options, headers: {} });
    case 'PAYLOAD_TOO_LARGE':
      return call(port, target, {
        ...options,
        body: Buffer.alloc(64 * 1024 + 1, ' '),
        headers: { ...options.headers, 'content-type': 'application/json' },
      });
    case 'UNSUPPORTED_MEDIA_TYPE': {
      const type = options.body ? 'text/plain' : 'no type';
      return call(port, target, {
        ...options,
        body: '{}',
        headers: { ...options.headers, 'content-type': type },
      });
    }
    case 'URI_TOO_LONG':
      return call(port, `${target}?${'x'.repeat(8_000)}`, options);
    case 'HEADERS_TOO_LARGE':
      return sendRaw(port, raw(`${target} HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(17_000)}\r\n\r\n`));
    case 'REQUEST_TIMEOUT':
      return sendRaw(strict.port, raw(`${target} HTTP/1.1\r\nhost: x\r\n`));
    case 'RATE_LIMITED':
      return call(strict.port, target, options).then(() => call(strict.port, target, options));
    default:
      return call(port, target, options);
  }
}

describe.each(operationsOf(document).map((documented) => [documented.operationId, documented] as const))(
  '%s',
  (_, documented) => {
    const answers = Object.entries<Document>(documented.operation.responses).flatMap(([status, response]) =>
      Object.entries<Document>(response.content['application/problem+json']?.examples ?? {}).map(
        ([code, { value }]) => ({ code: code as ProblemCode, status, response, example: value }),
      ),
    );

    it.each(answers)('returns $status $code as documented', async ({ code, status, response, example }) => {
      standIn.failure = REFUSALS[code] ?? UNAVAILABLE;
      standIn.scopes = code === 'INSUFFICIENT_SCOPE' ? [] : ALL_SCOPES;
      const answer = await provoke(documented, code);
      expect(answer.text && answer.json).toMatchObject({ code });
      expect(answer.status).toBe(Number(status));
      expect(response['x-error-codes']).toContain(answer.json.code);
      const at = [
        ...documented.at,
        'responses',
        status,
        'content',
        answer.headers['content-type']!,
        'schema',
      ];
      expect(validator.faults(at, answer.json)).toEqual([]);
      expect(undocumentedHeaders(response, answer)).toEqual([]);
      // The example equals the real response, except for the requester.
      expect(answer.json.detail).toBe(exampleWhereProvoked(documented, code).detail);
      expect(answer.json.type.replace(/^.*(?=\/docs)/, '')).toBe(example.type.replace(/^.*(?=\/docs)/, ''));
      if (!['408', '431'].includes(status) && code !== 'INVALID_REQUEST') {
        expect(answer.json.instance).toBe(example.instance);
      }
    });

    it('documents each status once, and each code under one status', () => {
      for (const { code, status } of answers) expect(PROBLEM_TYPES[code].status).toBe(Number(status));
      expect(new Set(answers.map(({ code }) => code)).size).toBe(answers.length);
    });
  },
);

/** The example of the listener at which `provoke` provokes the error, which has that listener's limits. */
function exampleWhereProvoked({ method, path }: Documented, code: ProblemCode): Document {
  const isStrict = code === 'RATE_LIMITED' || code === 'REQUEST_TIMEOUT';
  const { responses } = (isStrict ? strictDocument : document).paths[path][method.toLowerCase()];
  const { status } = PROBLEM_TYPES[code];
  return responses[status].content['application/problem+json'].examples[code].value;
}

/** Contract headers that a response has but the document lacks, or required ones that it lacks. */
function undocumentedHeaders(response: Document, { headers }: Answer): string[] {
  const documented = Object.keys(response.headers);
  const known: [string, Document][] = Object.entries(document.components.headers);
  return known
    .filter(([name, { required }]) => {
      const present = headers[name.toLowerCase()] !== undefined;
      return documented.includes(name) ? required && !present : present;
    })
    .map(([name]) => name);
}
