import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/sql.ts';
import type { GatewayHarness } from './gateway-harness.ts';
import { type Answer, type Call, call, expectProblem } from './http-call.ts';
import { type Document, DocumentValidator, operationsOf } from './openapi-reader.ts';

/** The demo data of a live merchant, and the gateways that serve it. */
export interface DemoBehindGateways {
  readonly gateways: GatewayHarness;
  readonly demo: { readonly apiKey: string; readonly productId: string };
}

let gateways: GatewayHarness;
let demo: DemoBehindGateways['demo'];
let document: Document;
let validator: DocumentValidator;

const ask = (path: string, options: Call = {}) =>
  call(gateways.ports.live, path, { key: demo.apiKey, ...options });

/** Expects a response that the document has for the operation; returns its body. */
function expectDocumented(operationId: string, answer: Answer) {
  const { at, operation } = operationsOf(document).find((one) => one.operationId === operationId)!;
  const response = operation.responses[answer.status];
  expect(response, `${operationId} ${answer.status} ${answer.text}`).toBeDefined();
  const [type = ''] = answer.headers['content-type']!.split(';');
  const place = [...at, 'responses', answer.status, 'content', type, 'schema'];
  expect(validator.faults(place, answer.json), answer.text.slice(0, 500)).toEqual([]);
  if (answer.status >= 400) expect(response['x-error-codes']).toContain(answer.json.code);
  for (const name of ['Request-Id', 'RateLimit-Policy', 'RateLimit', ...Object.keys(response.headers)]) {
    const { required } = document.components.headers[name];
    if (required || name.startsWith('RateLimit'))
      expect(answer.headers, name).toHaveProperty(name.toLowerCase());
  }
  return answer.json;
}

/** The structure of a cursor: the document's examples have that of issued ones. */
const makeOf = (cursor: string) =>
  Buffer.from(cursor.slice(0, -16), 'base64url').toString().replaceAll(/\w+/g, 'x');

/** Reads every page of a list; returns the number of items. */
async function walk(operationId: string, path: string): Promise<number> {
  let items = 0;
  for (let after = ''; ; ) {
    const { data, nextCursor } = expectDocumented(operationId, await ask(`${path}?limit=10${after}`));
    items += data.length;
    if (!nextCursor) return items;
    const [parameter] = document.paths[path].get.parameters;
    expect(makeOf(parameter.examples.typical.value)).toBe(makeOf(nextCursor));
    after = `&after=${encodeURIComponent(nextCursor)}`;
  }
}

const monthFromNow = (months: number) => {
  const today = new Date();
  return new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + months, 1))
    .toISOString()
    .slice(0, 7);
};

/** Checks real responses and events of the demo data against the OpenAPI document alone. */
export function describeDocumentedAnswers(subject: () => DemoBehindGateways): void {
  beforeAll(async () => {
    ({ gateways, demo } = subject());
    document = (await call(gateways.ports.live, '/openapi.json')).json;
    validator = new DocumentValidator(document);
  });

  describe('real responses match the document:', () => {
    it.each([
      ['listRefundCases', '/v1/refund-cases', 30],
      ['listFundsReleases', '/v1/funds/releases', 100],
      ['listAdvanceRequests', '/v1/advance/requests', 15],
    ])('of %s, page by page', async (operationId, path, atLeast) => {
      expect(await walk(operationId, path)).toBeGreaterThanOrEqual(atLeast);
    });

    it('the release calendar, past and future', async () => {
      for (const month of ['', '?month=2020-01', `?month=${monthFromNow(-1)}`, `?month=${monthFromNow(1)}`]) {
        expectDocumented('getReleaseCalendar', await ask(`/v1/funds/releases/calendar${month}`));
      }
    });

    it('a product', async () => {
      const product = expectDocumented('getProduct', await ask(`/v1/products/${demo.productId}`));
      expect(product.prices).not.toEqual([]);
      expect(product.offers).not.toEqual([]);
    });

    it('subscriptions: created, replayed, listed, disabled', async () => {
      const create = () =>
        ask('/v1/webhook-subscriptions', {
          body: { url: 'https://hooks.example.com/a', eventTypes: ['refund.requested.v1'] },
          headers: { 'idempotency-key': 'the-same' },
        });
      const first = await create();
      const { id } = expectDocumented('createWebhookSubscription', first);
      const replayed = await create();
      expect(expectDocumented('createWebhookSubscription', replayed)).toEqual(first.json);
      expect(replayed.headers).toMatchObject({
        'idempotency-replayed': 'true',
        location: first.headers.location,
      });
      const { links } = document.paths['/v1/webhook-subscriptions'].post.responses['201'];
      expect(links.disable).toMatchObject({ operationId: 'disableWebhookSubscription' });
      const disable = `/v1/webhook-subscriptions/${id}/disable`;
      expectDocumented('disableWebhookSubscription', await ask(disable, { method: 'POST' }));
      expect(await walk('listWebhookSubscriptions', '/v1/webhook-subscriptions')).toBe(1);
    });

    it.each([
      ['INVALID_WEBHOOK_URL', { url: 'http://hooks.example.com/', eventTypes: ['refund.requested.v1'] }],
      ['INVALID_EVENT_TYPE', { url: 'https://hooks.example.com/b', eventTypes: ['refund.opened.v1'] }],
    ] as const)('a rejected subscription: %s', async (code, body) => {
      const answer = await ask('/v1/webhook-subscriptions', {
        body,
        headers: { 'idempotency-key': randomUUID() },
      });
      expectProblem(answer, code);
      expectDocumented('createWebhookSubscription', answer);
      const { examples } =
        document.paths['/v1/webhook-subscriptions'].post.responses['400'].content['application/problem+json'];
      expect(answer.json.detail).toBe(examples[code].value.detail);
    });
  });

  describe('real events match the document', () => {
    it('byte for byte as signed and sent, for every area and the ping', async () => {
      const rows = await query(gateways.harness.databaseUrl, 'select type, body from webhooks.event');
      const faults = rows.flatMap(({ type, body }) => {
        const place = ['webhooks', type, 'post', 'requestBody', 'content', 'application/json', 'schema'];
        return validator.faults(place, JSON.parse(body)).map((fault) => `${type}: ${fault} in ${body}`);
      });
      expect(faults).toEqual([]);
      const nouns = new Set(rows.map(({ type }) => type.split('.')[0]));
      expect(nouns).toEqual(new Set(['product', 'refund', 'dispute', 'funds', 'advance', 'webhook']));
    });
  });
}
