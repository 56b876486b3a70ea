import { Code, ConnectError, createRouterTransport, type ServiceImpl } from '@connectrpc/connect';
import { validate } from '@scalar/openapi-parser';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { GatewayApp } from '../../gateway/gateway-app.ts';
import { EventService } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { listEventTypes } from '../../services/webhooks/events/list-event-types.ts';
import { testConfig } from '../support/harness.ts';
import { call, expectOwnHeaders, expectProblem } from './http-call.ts';
import { startListener } from './listen.ts';
import { type Document, operationsOf } from './openapi-reader.ts';

/** A listening gateway in front of nothing but the catalog of events. */
const listen = (
  environment: 'live' | 'test',
  settings: Record<string, string> = {},
  events: Partial<ServiceImpl<typeof EventService>> = { listEventTypes },
) =>
  startListener({
    environment,
    config: testConfig(settings),
    transport: createRouterTransport(({ service }) => void service(EventService, events)),
  });

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

  it('names the public address', async () => {
    const { port } = await listen('test', { PUBLIC_URL_SANDBOX: 'https://sandbox.payments.example' });
    const { json } = await call(port, '/openapi.json');
    expect(json.servers[0].url).toBe('https://sandbox.payments.example');
    const { value } =
      json.paths['/v1/refund-cases'].get.responses['401'].content['application/problem+json'].examples
        .API_KEY_MISSING;
    expect(value.type).toBe('https://sandbox.payments.example/docs/errors#API_KEY_MISSING');
  });

  it('states the configured limits, and where the other environment is', async () => {
    const { port } = await listen('test', {
      RATE_LIMIT_SANDBOX: '7',
      RATE_LIMIT_ADDRESS: '13',
      HTTP_REQUEST_TIMEOUT: '11s',
      PUBLIC_URL_LIVE: 'https://payments.example',
    });
    const { json } = await call(port, '/openapi.json');
    const said = json.info.description.replaceAll('\n', ' ');
    expect(said).toContain('| live | https://payments.example |');
    expect(said).toContain(`API=http://127.0.0.1:${port} KEY=mpk_test_…`);
    for (const limit of ['may make 7 requests', 'by address: 13 a second', 'within 11 seconds']) {
      expect(said).toContain(limit);
    }
    expect(json.components.headers['RateLimit-Policy'].example).toBe('"key";q=7;w=1');
    const { 408: late, 429: limited } = json.paths['/v1/refund-cases'].get.responses;
    const detailOf = ({ content }: Document, code: string) =>
      content['application/problem+json'].examples[code].value.detail;
    expect(detailOf(late, 'REQUEST_TIMEOUT')).toContain('within 11 s');
    expect(detailOf(limited, 'RATE_LIMITED')).toContain('More than 7 requests');
    const policy = (await call(port, '/openapi.json')).headers['ratelimit-policy'];
    expect(policy).toBe('"address";q=13;w=1');
  });

  it('is not sent again to clients with a current copy', async () => {
    const { port } = await listen('live');
    const { etag } = (await call(port, '/openapi.json')).headers;
    for (const tags of [etag!, `W/${etag}`, `"other", W/"another" , ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await call(port, '/openapi.json', { method, headers: { 'if-none-match': tags } });
        expect(answer).toMatchObject({ status: 304, text: '', headers: { etag } });
        expect(answer.headers['content-length']).toBeUndefined();
      }
    }
    for (const tags of ['"other"', 'W/"other"', etag!.slice(1, -1)]) {
      const headers = { 'if-none-match': tags };
      expect((await call(port, '/openapi.json', { headers })).status).toBe(200);
    }
  });

  it('is 503 while the event catalog is unavailable; once loaded, the catalog is not requested again', async () => {
    let asked = 0;
    let isUnavailable = true;
    const { port } = await listen(
      'live',
      {},
      {
        listEventTypes: () => {
          asked += 1;
          if (isUnavailable) throw new ConnectError('unavailable', Code.Unavailable);
          return listEventTypes();
        },
      },
    );
    expectProblem(await call(port, '/openapi.json'), 'SERVICE_UNAVAILABLE');
    isUnavailable = false;
    expect((await call(port, '/openapi.json')).status).toBe(200);
    isUnavailable = true;
    expect((await call(port, '/openapi.json')).status).toBe(200);
    expect(asked).toBe(2);
  });

  it('is valid OpenAPI 3.1 and contains valid JSON Schemas', async () => {
    const document = await read('live');
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(await validate(document)).toMatchObject({ valid: true });
    expect((await validate({ ...document, paths: { '/x': { get: { responses: 1 } } } })).valid).toBe(false);
    const ajv = new Ajv2020();
    const schemas = Object.entries<Document>(document.components.schemas);
    expect(schemas.filter(([, schema]) => !ajv.validateSchema(schema)).map(([name]) => name)).toEqual([]);
  });

  it('has exactly the operations routed below /v1', async () => {
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
