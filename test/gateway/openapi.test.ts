import type { AddressInfo } from 'node:net';
import { Code, ConnectError, createRouterTransport, type ServiceImpl } from '@connectrpc/connect';
import { validate } from '@scalar/openapi-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, it } from 'vitest';
import { createGateway } from '../../gateway/app.ts';
import type { GatewayApp } from '../../gateway/gateway-app.ts';
import { PROBLEM_TYPES, type ProblemCode } from '../../gateway/problem-types.ts';
import { EventService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { createLogger } from '../../services/platform/telemetry.ts';
import { EVENT_CATALOGUE } from '../../services/webhooks/event-types/event-catalogue.ts';
import { listEventTypes } from '../../services/webhooks/list-event-types.ts';
import { testConfig } from '../support/house.ts';
import { call, expectOwnHeaders, expectProblem } from './http-call.ts';
import { type Document, DocumentValidator, objectsIn, operationsOf, webhooksOf } from './openapi-reader.ts';

const gateways: GatewayApp[] = [];
afterEach(async () => void (await Promise.all(gateways.splice(0).map((gateway) => gateway.close()))));

/** A listening gateway in front of nothing but the catalogue of events. */
async function listen(
  environment: 'live' | 'test',
  settings: Record<string, string> = {},
  events: Partial<ServiceImpl<typeof EventService>> = { listEventTypes },
) {
  const app = createGateway({
    ...{ environment, config: testConfig(settings), logger: createLogger('fatal') },
    transport: createRouterTransport(({ service }) => void service(EventService, events)),
  });
  gateways.push(app);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, port: (app.server.address() as AddressInfo).port };
}

async function read(environment: 'live' | 'test'): Promise<Document> {
  const { port } = await listen(environment);
  return (await call(port, '/openapi.json')).json;
}

describe('the document', () => {
  it.each(['live', 'test'] as const)('is served on the %s listener, without a key', async (environment) => {
    const { port } = await listen(environment);
    const answer = await call(port, '/openapi.json');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('public, max-age=300');
    expectOwnHeaders(answer);
    expect(answer.json.info).toMatchObject({ version: '1.0.0' });
    expect(answer.json.servers).toMatchObject([{ url: `http://127.0.0.1:${port}` }]);
    const other = environment === 'live' ? 'test' : 'live';
    expect(JSON.stringify(answer.json.paths)).not.toContain(`"environment":"${other}"`);
  });

  it('names the address that merchants see', async () => {
    const { port } = await listen('test', { PUBLIC_URL_SANDBOX: 'https://sandbox.payments.example' });
    const { json } = await call(port, '/openapi.json');
    expect(json.servers[0].url).toBe('https://sandbox.payments.example');
    const { value } =
      json.paths['/v1/refund-cases'].get.responses['401'].content['application/problem+json'].examples
        .API_KEY_MISSING;
    expect(value.type).toBe('https://sandbox.payments.example/docs/errors#API_KEY_MISSING');
  });

  it('is not sent again to who has it', async () => {
    const { port } = await listen('live');
    const { etag } = (await call(port, '/openapi.json')).headers;
    const answer = await call(port, '/openapi.json', { headers: { 'if-none-match': etag! } });
    expect(answer).toMatchObject({ status: 304, text: '' });
    expect((await call(port, '/openapi.json', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('is 503 while the catalogue of events is away; once known, it is not asked for again', async () => {
    let asked = 0;
    let away = true;
    const { port } = await listen(
      'live',
      {},
      {
        listEventTypes: () => {
          asked += 1;
          if (away) throw new ConnectError('away', Code.Unavailable);
          return listEventTypes();
        },
      },
    );
    expectProblem(await call(port, '/openapi.json'), 'SERVICE_UNAVAILABLE');
    away = false;
    expect((await call(port, '/openapi.json')).status).toBe(200);
    away = true;
    expect((await call(port, '/openapi.json')).status).toBe(200);
    expect(asked).toBe(2);
  });

  it('is valid OpenAPI 3.1 and holds valid JSON Schemas', async () => {
    const document = await read('live');
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(await validate(document)).toMatchObject({ valid: true });
    expect((await validate({ ...document, paths: { '/x': { get: { responses: 1 } } } })).valid).toBe(false);
    const ajv = new Ajv2020();
    const schemas = Object.entries<Document>(document.components.schemas);
    expect(schemas.filter(([, schema]) => !ajv.validateSchema(schema)).map(([name]) => name)).toEqual([]);
  });

  it('has exactly the operations that are routed below /v1', async () => {
    const { app, port } = await listen('live');
    const { json } = await call(port, '/openapi.json');
    const documented = operationsOf(json).map(({ method, path }) => `${method} ${path}`);
    expect(documented).toHaveLength(8);
    expect(documented.sort()).toEqual(
      routesOf(app)
        .filter((route) => route.includes(' /v1'))
        .sort(),
    );
  });
});

/** Every route as the router prints it, without the HEAD that each GET brings. */
function routesOf(app: GatewayApp): string[] {
  const parents: string[] = [];
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', path = '', methods = ''] = /^([ │├└─]*)(\S+) \((.*)\)$/.exec(line) ?? [];
      const depth = indent.length / 4;
      parents.splice(Math.max(depth - 1, 0), Infinity, path);
      const url = parents.join('').replaceAll(/:(\w+)/g, '{$1}');
      return methods
        .split(', ')
        .filter((method) => method !== '' && method !== 'HEAD')
        .map((method) => `${method} ${url}`);
    });
}

describe('every operation', () => {
  it('names its scope, and describes its parameters with bounds and examples', async () => {
    const document = await read('live');
    const validator = new DocumentValidator(document);
    for (const { operationId, operation, at } of operationsOf(document)) {
      const [[scope]] = Object.values<string[]>(operation.security[0]) as [[string]];
      expect(operation.description, operationId).toContain(`\`${scope}\``);
      for (const [n, parameter] of operation.parameters.entries()) {
        const where = `${operationId} ${parameter.name}`;
        expect(parameter.description, where).toMatch(/\.$/);
        expect(validator.faults([...at, 'parameters', n, 'schema'], parameter.example), where).toEqual([]);
      }
    }
  });

  it('has complete examples that are valid', async () => {
    const document = await read('test');
    const validator = new DocumentValidator(document);
    const faults: string[] = [];
    let examples = 0;
    for (const [at, { schema, ...media }] of objectsIn(document)) {
      if (schema === undefined || !at.includes('content')) continue;
      const values = Object.values<Document>(media.examples ?? { only: { value: media.example } });
      for (const { value } of values) {
        examples += 1;
        for (const fault of validator.faults([...at, 'schema'], value))
          faults.push(`${at.join('/')}: ${fault}`);
      }
    }
    for (const [name, { schema, example }] of Object.entries<Document>(document.components.headers)) {
      expect(
        validator.faults(['components', 'headers', name, 'schema'], example),
        JSON.stringify(schema),
      ).toEqual([]);
    }
    expect(faults).toEqual([]);
    expect(examples).toBeGreaterThan(8 * 15);
  });

  it('shows for each error the body that is really answered', async () => {
    const document = await read('live');
    for (const { operation, path } of operationsOf(document)) {
      for (const [status, response] of Object.entries<Document>(operation.responses)) {
        const problem = response.content['application/problem+json'];
        if (!problem) continue;
        const codes: ProblemCode[] = problem.schema.allOf[1].properties.code.enum;
        expect(Object.keys(problem.examples)).toEqual(codes);
        for (const code of codes) {
          const { value } = problem.examples[code];
          expect(value).toMatchObject({ status: Number(status), title: PROBLEM_TYPES[code].title, code });
          expect(value.type).toBe(`${document.servers[0].url}/docs/errors#${code}`);
          expect(value.instance).toMatch(new RegExp(`^${path.replace('{id}', '[0-9a-f-]{36}')}$`));
          expect(response.description).toContain(PROBLEM_TYPES[code].meaning);
        }
      }
    }
  });

  it('together answer every error but those that come before any operation', async () => {
    const document = JSON.stringify(operationsOf(await read('live')));
    const missing = Object.keys(PROBLEM_TYPES).filter((code) => !document.includes(`"${code}"`));
    expect(missing).toEqual(['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED']);
  });
});

describe('every schema', () => {
  it('is closed where it is an object, and says what each member is', async () => {
    const { components, paths, webhooks } = await read('live');
    const open: string[] = [];
    const silent: string[] = [];
    for (const [at, schema] of objectsIn({ components, paths, webhooks })) {
      if (at.includes('examples') || at.includes('example') || typeof schema.properties !== 'object')
        continue;
      // What narrows a problem says no more than the problem itself.
      if (at.includes('allOf')) continue;
      if (schema.additionalProperties !== false) open.push(at.join('/'));
      for (const [name, member] of Object.entries<Document>(schema.properties)) {
        const described = member.description ?? components.schemas[nameOf(member.$ref)]?.description;
        if (!described) silent.push([...at, name].join('/'));
      }
    }
    expect(open).toEqual([]);
    expect(silent).toEqual([]);
  });

  it('names the resources, and refers to them by name', async () => {
    const document = await read('live');
    const names = Object.keys(document.components.schemas);
    for (const name of ['RefundCase', 'Product', 'Price', 'Offer', 'FundsRelease', 'ReleaseCalendarDay']) {
      expect(names).toContain(name);
    }
    const used = new Set(
      [...objectsIn(document)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [nameOf($ref)] : [])),
    );
    expect(names.filter((name) => !used.has(name))).toEqual([]);
  });

  it('bounds every amount by what JSON parsers read exactly', async () => {
    const { schemas } = (await read('live')).components;
    const amounts = [...objectsIn(schemas)].filter(
      ([at]) => /amount/i.test(at.at(-1)!) && !at.includes('examples'),
    );
    expect(amounts.length).toBeGreaterThan(20);
    for (const [at, amount] of amounts) {
      expect(amount, at.join('/')).toMatchObject({ type: 'integer', maximum: 9_007_199_254_740_991 });
      expect([0, 1]).toContain(amount.minimum);
    }
  });
});

const nameOf = ($ref: string | undefined) => $ref?.split('/').at(-1) ?? '';

describe('webhooks', () => {
  it('are exactly the catalogue and the ping', async () => {
    const document = await read('live');
    const names = EVENT_CATALOGUE.map(({ name }) => name);
    expect(names).toHaveLength(26);
    expect(webhooksOf(document).map(({ type }) => type)).toEqual([...names, 'webhook.ping.v1']);
    expect(document.components.schemas.EventType.enum).toEqual(names);
  });

  it('take the data of their own type alone, in the envelope that is sent', async () => {
    const document = await read('test');
    const validator = new DocumentValidator(document);
    for (const { type, at, operation } of webhooksOf(document)) {
      const { example } = operation.requestBody.content['application/json'];
      const place = [...at, 'requestBody', 'content', 'application/json', 'schema'];
      expect(Object.keys(example)).toEqual([
        'id',
        'type',
        'timestamp',
        'environment',
        'requestId',
        'sequence',
        'data',
      ]);
      expect(example).toMatchObject({ type, environment: 'test' });
      expect(validator.faults(place, example), type).toEqual([]);
      expect(validator.faults(place, { ...example, data: {} }), type).not.toEqual([]);
      expect(validator.faults(place, { ...example, type: 'other.v1' }), type).not.toEqual([]);
      expect(validator.faults(place, { ...example, more: 1 }), type).not.toEqual([]);
      expect(operation.parameters.map(({ name }: { name: string }) => name)).toEqual([
        ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
      ]);
      for (const [n, parameter] of operation.parameters.entries()) {
        expect(validator.faults([...at, 'parameters', n, 'schema'], parameter.example)).toEqual([]);
      }
    }
  });
});
