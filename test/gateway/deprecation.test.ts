import { Type } from 'typebox';
import { afterAll, expect, it } from 'vitest';
import { createGateway } from '../../gateway/app.ts';
import type { Access } from '../../gateway/auth/access.ts';
import { GATEWAY_CALLER } from '../../gateway/clients.ts';
import { Problem } from '../../gateway/problems/problem.ts';
import { type OperationSchema, operation } from '../../gateway/routes/operation.ts';
import { closedObject } from '../../gateway/routes/schemas.ts';
import { createLogger } from '../../services/platform/process/telemetry.ts';
import { startHarness } from '../support/harness.ts';
import type { Document } from './openapi-reader.ts';

const OLD: OperationSchema = {
  operationId: 'getOldThing',
  scope: 'catalog:read',
  summary: 'Get an old thing',
  description: 'An operation that will be taken away.',
  tags: ['Catalog'],
  deprecation: { since: '2027-01-01', sunset: '2028-07-01', link: '/docs/#tag/catalog' },
  querystring: closedObject({
    fails: Type.Optional(Type.String({ description: 'How to fail.', examples: ['UNKNOWN'] })),
  }),
  successDescription: 'A thing.',
  response: {
    200: closedObject({ ok: Type.Boolean({ description: 'Whether.', examples: [true] }) }, 'A thing.'),
  },
  errors: { INVALID_REQUEST: "Query parameter 'fails' must be a string." },
};
const { deprecation: _, ...NEW } = { ...OLD, operationId: 'getNewThing' };

const everybody: Access = {
  withScope: () => async () => undefined,
  open: () => async () => undefined,
  isStillAllowed: async () => true,
};

const harness = await startHarness();
const app = createGateway({
  environment: 'live',
  config: harness.config,
  transport: harness.services.transportFor(GATEWAY_CALLER),
  logger: createLogger('silent'),
});
for (const [path, schema] of [
  ['/v1/old-thing', OLD],
  ['/v1/new-thing', NEW],
] as const) {
  app.get(path, operation(everybody, schema), async (request) => {
    const { fails } = request.query as { fails?: string };
    if (fails === 'KNOWN') throw new Problem('PRODUCT_NOT_FOUND', 'There is none.');
    if (fails !== undefined) throw new Error(fails);
    return { ok: true };
  });
}
await app.listen({ host: '127.0.0.1', port: 0 });
afterAll(async () => {
  await app.close();
  await harness.close();
});

it.each([
  ['a success', 200, 'GET', ''],
  ['a success of HEAD', 200, 'HEAD', ''],
  ['a refusal by the schema', 400, 'GET', '?unknown=1'],
  ['a refusal by the handler', 404, 'GET', '?fails=KNOWN'],
  ['a refusal before the route’s own checks', 414, 'GET', `?${'a'.repeat(8_000)}`],
  ['a failure of our own', 500, 'GET', '?fails=UNKNOWN'],
] as const)(
  '%s of a deprecated route has the headers with the dates and the documentation link',
  async (_what, status, method, query) => {
    const answer = await app.inject({ method, url: `/v1/old-thing${query}` });
    expect(answer.statusCode).toBe(status);
    expect(answer.headers).toMatchObject({
      deprecation: '@1798761600',
      sunset: 'Sat, 01 Jul 2028 00:00:00 GMT',
      link: '</docs/#tag/catalog>; rel="deprecation"; type="text/html"',
    });
  },
);

it('other routes, and APIs without deprecations, have no such headers', async () => {
  for (const url of ['/v1/new-thing', '/v1/new-thing?fails=KNOWN', '/v1/old-thing/', '/docs/']) {
    const { headers } = await app.inject({ url });
    for (const name of ['deprecation', 'sunset', 'link']) expect(headers[name]).toBeUndefined();
  }
});

it('the OpenAPI document marks the deprecated operation', async () => {
  const { paths } = (await app.inject({ url: '/openapi.json' })).json();
  expect(paths['/v1/old-thing'].get.deprecated).toBe(true);
  expect(paths['/v1/new-thing'].get).not.toHaveProperty('deprecated');
  expect(paths['/v1/old-thing'].get.description).toContain(
    '**Deprecated since 2027-01-01, removed on 2028-07-01.** [Replacement](/docs/#tag/catalog)',
  );
  const answer = await app.inject({ url: '/v1/old-thing' });
  for (const { headers } of Object.values<Document>(paths['/v1/old-thing'].get.responses)) {
    for (const name of ['Deprecation', 'Sunset', 'Link']) {
      expect(headers[name].example).toBe(answer.headers[name.toLowerCase()]);
    }
  }
  for (const { headers } of Object.values<Document>(paths['/v1/new-thing'].get.responses)) {
    for (const name of ['Deprecation', 'Sunset', 'Link']) expect(headers).not.toHaveProperty(name);
  }
});

it('an invalid date is rejected at startup', () => {
  const { config } = harness;
  const transport = harness.services.transportFor(GATEWAY_CALLER);
  const gateway = createGateway({ environment: 'live', config, transport, logger: createLogger('silent') });
  const schema = { ...OLD, deprecation: { since: '2027-13-01', sunset: '2028-07-01', link: '/docs/' } };
  expect(() => gateway.get('/v1/old-thing', operation(everybody, schema), () => ({ ok: true }))).toThrow(
    '2027-13-01',
  );
});
