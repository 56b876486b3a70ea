import { afterAll, describe, expect, it } from 'vitest';
import { PROBLEM_TYPES, type ProblemCode } from '../../gateway/problems/problem-types.ts';
import { EVENT_CATALOG } from '../../services/webhooks/events/event-types/event-catalog.ts';
import { call } from './http-call.ts';
import { type Document, DocumentValidator, objectsIn, operationsOf, webhooksOf } from './openapi-reader.ts';
import { startStandInGateway } from './stand-in-gateway.ts';

/** The contents of the sandbox's document; the same code builds the live one. */

const { port, close } = await startStandInGateway({}, 'test');
afterAll(close);
const document: Document = (await call(port, '/openapi.json')).json;
const validator = new DocumentValidator(document);

describe('every operation', () => {
  it('names its scope, and describes its parameters with bounds and examples', () => {
    for (const { operationId, operation, at } of operationsOf(document)) {
      const [[scope]] = Object.values<string[]>(operation.security[0]) as [[string]];
      expect(operation.description, operationId).toContain(`\`${scope}\``);
      for (const [n, parameter] of operation.parameters.entries()) {
        const where = `${operationId} ${parameter.name}`;
        expect(parameter.description, where).toMatch(/\.$/);
        const example = parameter.example ?? parameter.examples.typical.value;
        expect(validator.faults([...at, 'parameters', n, 'schema'], example), where).toEqual([]);
      }
    }
  });

  it('has complete, valid examples', () => {
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

  it('shows the actual body of each error', () => {
    for (const { operation, path } of operationsOf(document)) {
      for (const [status, response] of Object.entries<Document>(operation.responses)) {
        const problem = response.content['application/problem+json'];
        if (!problem) continue;
        expect(problem.schema).toEqual({ $ref: '#/components/schemas/Problem' });
        const codes: ProblemCode[] = response['x-error-codes'];
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

  it('together document every error except those that occur before routing', () => {
    const written = JSON.stringify(operationsOf(document));
    const missing = Object.keys(PROBLEM_TYPES).filter((code) => !written.includes(`"${code}"`));
    expect(missing).toEqual(['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED']);
  });
});

describe('every schema', () => {
  it('allows no additional properties, and describes each property', () => {
    const { components, paths, webhooks } = document;
    const open: string[] = [];
    const silent: string[] = [];
    for (const [at, schema] of objectsIn({ components, paths, webhooks })) {
      if (at.includes('examples') || at.includes('example') || typeof schema.properties !== 'object')
        continue;
      if (schema.additionalProperties !== false) open.push(at.join('/'));
      for (const [name, member] of Object.entries<Document>(schema.properties)) {
        const described = member.description ?? components.schemas[nameOf(member.$ref)]?.description;
        if (!described) silent.push([...at, name].join('/'));
      }
    }
    expect(open).toEqual([]);
    expect(silent).toEqual([]);
  });

  it('names the resources, and references them by name', () => {
    const names = Object.keys(document.components.schemas);
    for (const name of ['RefundCase', 'Product', 'Price', 'Offer', 'FundsRelease', 'ReleaseCalendarDay']) {
      expect(names).toContain(name);
    }
    const used = new Set(
      [...objectsIn(document)].flatMap(([, { $ref }]) => (typeof $ref === 'string' ? [nameOf($ref)] : [])),
    );
    expect(names.filter((name) => !used.has(name))).toEqual([]);
  });

  it('declares 64 bits for every integer that may exceed 32 bits, so that generated clients do not truncate it', () => {
    const integers = [...objectsIn(document)].filter(([, { type }]) => [type].flat().includes('integer'));
    const wide = integers.filter(([, { maximum = Infinity }]) => maximum > 2 ** 31 - 1);
    expect(wide.length).toBeGreaterThan(40);
    expect(wide.filter(([, { format }]) => format !== 'int64').map(([at]) => at.join('/'))).toEqual([]);
    const sequences = wide.filter(([at]) => at.at(-1) === 'sequence');
    expect(sequences).toHaveLength(webhooksOf(document).length);
  });

  it('limits every amount to integers that JSON parsers read exactly', () => {
    const { schemas } = document.components;
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
  it('are exactly the event catalog and the ping', () => {
    const names = EVENT_CATALOG.map(({ name }) => name);
    expect(names).toHaveLength(28);
    expect(webhooksOf(document).map(({ type }) => type)).toEqual([...names, 'webhook.ping.v1']);
    expect(document.components.schemas.EventType.enum).toEqual(names);
  });

  it('accept only the data of their own type, in the envelope that is sent', () => {
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
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ]);
      for (const [n, parameter] of operation.parameters.entries()) {
        expect(validator.faults([...at, 'parameters', n, 'schema'], parameter.example)).toEqual([]);
      }
    }
  });
});
