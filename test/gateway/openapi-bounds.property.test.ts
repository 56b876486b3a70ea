import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { type Answer, call } from './http-call.ts';
import { type Document, DocumentValidator, operationsOf } from './openapi-reader.ts';
import { startStandInGateway } from './stand-in-gateway.ts';

/** The documented bounds of values are exactly those that are enforced. */

const { port, close } = await startStandInGateway();
afterAll(close);
const document: Document = (await call(port, '/openapi.json')).json;
const validator = new DocumentValidator(document);
const key = newApiKey('live');

/** Whether the gateway accepted the request and called a service. */
function accepted(answer: Answer): boolean {
  expect(['SERVICE_UNAVAILABLE', 'INVALID_REQUEST', 'IDEMPOTENCY_KEY_MISSING']).toContain(answer.json.code);
  return answer.json.code === 'SERVICE_UNAVAILABLE';
}

const textOf = (minLength: number, maxLength: number) =>
  fc
    .string({ unit: fc.constantFrom('a', 'é', '👍', '-', ' ', '&', '0'), minLength, maxLength })
    .filter((text) => text !== '');

/** Values on either side of what a schema allows. */
function valuesAround({ type, minimum, maximum, maxLength, enum: names, format, pattern }: Document) {
  if (type === 'integer') {
    const near = fc.integer({ min: minimum - 3, max: maximum + 3 }).map(String);
    const odd = fc.constantFrom(
      '1.0',
      '01',
      '+5',
      '1e1',
      '-0',
      ' 5',
      '5 ',
      '٣',
      '0x5',
      '99999999999999999999',
    );
    return fc.oneof(
      near,
      fc.constantFrom(`${minimum}`, `${maximum}`, `${minimum - 1}`, `${maximum + 1}`),
      odd,
    );
  }
  if (names)
    return fc.oneof(
      fc.constantFrom<string[]>(...names),
      fc.constantFrom(names[0].toLowerCase(), 'X', names.join()),
    );
  if (format === 'uuid') {
    const mutilated = fc
      .tuple(fc.uuid(), fc.nat(35))
      .map(([id, at]) => `${id.slice(0, at)}g${id.slice(at + 1)}`);
    return fc.oneof(
      fc.uuid(),
      fc.uuid().map((id) => id.toUpperCase()),
      mutilated,
      fc.uuid().map((id) => id.slice(1)),
    );
  }
  if (pattern) {
    const digits = (least: number, most: number, width: number) =>
      fc.integer({ min: least, max: most }).map((number) => String(number).padStart(width, '0'));
    const parts = [digits(0, 10_001, 4), digits(0, 13, 2), ...(format === 'date' ? [digits(0, 32, 2)] : [])];
    const written = fc.tuple(...parts).map((written) => written.join('-'));
    return fc.oneof(
      written,
      written.map((text) => ` ${text}`),
      textOf(1, 12),
    );
  }
  return fc.oneof(textOf(1, 12), textOf(maxLength - 2, maxLength + 2));
}

const typed = (schema: Document, text: string): unknown =>
  schema.type === 'integer' && /^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : text;

const parameters = operationsOf(document).flatMap(({ operationId, method, path, at, operation }) =>
  operation.parameters.map((parameter: Document, n: number) => ({
    operationId,
    method,
    path,
    name: parameter.name,
    in: parameter.in,
    schema: parameter.schema,
    place: [...at, 'parameters', n, 'schema'],
  })),
);

describe('a parameter is accepted if and only if the document allows it:', () => {
  it.each(parameters.filter((parameter) => parameter.in !== 'header'))(
    '$operationId $name',
    async ({ method, path, name, schema, place, in: within }) => {
      const seen = { accepted: 0, refused: 0 };
      await fc.assert(
        fc.asyncProperty(valuesAround(schema), async (text) => {
          const value = encodeURIComponent(text);
          const target = within === 'path' ? path.replace('{id}', value) : `${path}?${name}=${value}`;
          const verdict = validator.faults(place, typed(schema, text)).length === 0;
          expect(accepted(await call(port, target, { method, key })), text).toBe(verdict);
          seen[verdict ? 'accepted' : 'refused'] += 1;
        }),
        { numRuns: 150 },
      );
      expect(seen.accepted).toBeGreaterThan(0);
      expect(seen.refused).toBeGreaterThan(0);
    },
  );
});

const [create] = operationsOf(document).filter(
  ({ operationId }) => operationId === 'createWebhookSubscription',
);
const post = (headers: Record<string, string>, body: unknown) =>
  call(port, create!.path, { method: 'POST', key, headers, body: JSON.stringify(body) });
const JSON_TYPE = { 'content-type': 'application/json' };

it('an Idempotency-Key is accepted if and only if the document allows it, bare and quoted', async () => {
  const { place } = parameters.find(({ name }) => name === 'Idempotency-Key')!;
  const body = create!.operation.requestBody.content['application/json'].example;
  const written = fc.string({
    unit: fc.constantFrom('a', ' ', '~', '!', '"', '\\', '\\"', '\\\\', 'é', '\t'),
    maxLength: 6,
  });
  const bare = fc.integer({ min: 253, max: 257 }).map((length) => 'k'.repeat(length));
  const value = fc.oneof(
    written,
    bare,
    fc.oneof(written, bare).map((text) => `"${text}"`),
  );
  await fc.assert(
    fc.asyncProperty(value, async (text) => {
      const verdict = validator.faults(place, text.replaceAll(/^[ \t]+|[ \t]+$/g, '')).length === 0;
      const answer = await post({ ...JSON_TYPE, 'idempotency-key': text }, body);
      expect(accepted(answer), text).toBe(verdict);
    }),
    { numRuns: 400 },
  );
});

it('a body is accepted if and only if the document allows it', async () => {
  const place = [...create!.at, 'requestBody', 'content', 'application/json', 'schema'];
  const names: string[] = document.components.schemas.EventType.enum;
  const url = fc.oneof(
    { weight: 2, arbitrary: fc.constant('https://hooks.example.com/') },
    fc.integer({ min: 2046, max: 2050 }).map((length) => 'https://a.example/'.padEnd(length, 'x')),
    fc.constantFrom<unknown>(1, null, ['https://a.example/'], {}),
  );
  // There are fewer names than may be subscribed to, so that many distinct ones do not exist.
  const eventTypes = fc.oneof(
    { weight: 3, arbitrary: fc.subarray(names) },
    fc.array(fc.constantFrom(...names), { minLength: 48, maxLength: 52 }),
    fc
      .tuple(fc.constantFrom(...names), fc.integer({ min: 0, max: 3 }))
      .map(([name, n]) => Array(n).fill(name)),
    fc.constantFrom<unknown>('refund.requested.v1', null, {}, [1], [null], [[]]),
  );
  const body = fc.oneof(
    fc.record({ url, eventTypes }),
    fc.record({ url, eventTypes }, { requiredKeys: [] }),
    fc.record({ url, eventTypes, more: fc.jsonValue() }),
    fc.jsonValue(),
  );
  const seen = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(body, async (value) => {
      const verdict = validator.faults(place, value).length === 0;
      const answer = await post({ ...JSON_TYPE, 'idempotency-key': randomUUID() }, value);
      expect(accepted(answer), JSON.stringify(value)).toBe(verdict);
      seen[verdict ? 'accepted' : 'refused'] += 1;
    }),
    { numRuns: 400 },
  );
  expect(seen.accepted).toBeGreaterThan(10);
  expect(seen.refused).toBeGreaterThan(100);
});
