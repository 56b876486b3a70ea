import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { newApiKey } from '../../services/platform/api-key-format.ts';
import { type Call, call, expectProblem } from './http-call.ts';
import { type Document, operationsOf } from './openapi-reader.ts';
import { startStandInGateway } from './stand-in-gateway.ts';

interface Schema {
  readonly $ref?: string;
  readonly type: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** An invalid value, and the requirement in the detail. */
type Fault = readonly [value: unknown, must: string];

const { port, close } = await startStandInGateway();
afterAll(close);
const document: Document = (await call(port, '/openapi.json')).json;
const key = newApiKey('live');

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)!];

/** Invalid values of a parameter, by the keywords of its schema. */
function parameterFaults(schema: Schema): Fault[] {
  const { type, enum: names, format, pattern, minimum, maximum, minLength, maxLength } = schema;
  const of = (must: string, values: readonly unknown[]) => values.map((value): Fault => [value, must]);
  if (type === 'integer') {
    return of(`an integer from ${minimum} to ${maximum}`, [
      'abc',
      'true',
      'null',
      '1.5',
      '1.0',
      '1e1',
      '+5',
      '05',
      '0x5',
      '5 ',
      '５',
      '9'.repeat(40),
      minimum! - 1,
      maximum! + 1,
      -maximum!,
    ]);
  }
  if (names) {
    return of(`one of ${names.join(', ')}`, [
      'NOPE',
      names[0]!.toLowerCase(),
      ` ${names[0]}`,
      names.join(','),
    ]);
  }
  if (format === 'uuid') {
    const id = randomUUID();
    return of('a UUID', ['42', id.slice(1), `{${id}}`, id.replaceAll('-', ''), `${id} `, `urn:uuid:${id}`]);
  }
  if (format === 'date') {
    return of('a valid date as YYYY-MM-DD', [
      '2026-02-30',
      '2100-02-29',
      '2026-13-01',
      '2026-1-1',
      '26-01-01',
      '0000-01-01',
      '2026-01-01T00:00:00Z',
      'today',
    ]);
  }
  if (pattern?.startsWith('^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])$')) {
    return of('a month as YYYY-MM', ['2026-00', '2026-13', '2026-1', '0000-01', '2026-01-01', '2026-01 ']);
  }
  if (type === 'string' && maxLength !== undefined) {
    return of(`a string of ${minLength} to ${maxLength} characters`, ['a'.repeat(maxLength + 1)]);
  }
  throw new Error(`nothing is known to be wrong for ${JSON.stringify(schema)}`);
}

/** Invalid values of a member of a body. */
function memberFaults({ type, maxLength, minItems, maxItems }: Schema): Fault[] {
  if (type === 'string') {
    const must = `a string of at most ${maxLength} characters`;
    return [null, 1, true, [], {}, 'a'.repeat(maxLength! + 1)].map((value) => [value, must]);
  }
  if (type === 'array') {
    const must = `an array of ${minItems} to ${maxItems} distinct items`;
    const tooMany = Array.from({ length: maxItems! + 1 }, (_, index) => `${index}`);
    return [null, 1, 'a', {}, [], ['a', 'a'], tooMany].map((value) => [value, must]);
  }
  throw new Error(`nothing is known to be wrong for a ${type}`);
}

/** Makes a request to an operation; returns the detail of the refusal. */
type Ask = (query: string, body?: unknown, path?: string) => Promise<string>;

async function expectQueryFaults(ask: Ask, parameters: ReadonlyMap<string, Schema>): Promise<void> {
  const allowed = [...parameters.keys()].sort().join(', ') || 'none';
  for (const query of ['unheard=of', 'unheard=', 'unheard']) {
    expect(await ask(query)).toBe(`Query parameter 'unheard' is unknown; allowed: ${allowed}.`);
  }
  for (const [name, schema] of parameters) {
    const at = `Query parameter '${name}'`;
    expect(await ask(`${name}=1&${name}=1`)).toBe(`${at} must not be repeated.`);
    expect(await ask(`${name}=%00`)).toBe(`${at} must not contain NUL.`);
    expect(await ask(`${name}=%ff`)).toBe(`${at} must be percent-encoded UTF-8.`);
    const faults = parameterFaults(schema);
    const [[, required]] = faults as [Fault];
    expect(await ask(name)).toBe(`${at} must be ${required}.`);
    for (const [value, must] of [['', required] as const, ...faults]) {
      const detail = await ask(`${name}=${encodeURIComponent(String(value))}`);
      expect([value, detail]).toEqual([value, `${at} must be ${must}.`]);
    }
  }
}

/** A body in which nothing is wrong by the schema. */
function bodyOf({ properties = {} }: Schema): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [name, type === 'array' ? ['a'] : 'a']),
  );
}

async function expectBodyFaults(ask: Ask, schema: Schema): Promise<void> {
  const { properties = {}, required = [] } = schema;
  const good = bodyOf(schema);
  const allowed = Object.keys(properties).sort().join(', ');
  expect(await ask('', { ...good, unheard: 1 })).toBe(`/unheard is unknown; allowed: ${allowed}.`);
  for (const name of required) {
    const { [name]: _, ...rest } = good;
    expect(await ask('', rest)).toBe(`/${name} is required.`);
  }
  for (const [name, member] of Object.entries(properties)) {
    const twice = `{${JSON.stringify(name)}:1,${JSON.stringify(good).slice(1)}`;
    expect(await ask('', twice)).toBe(`/${name} must not be repeated.`);
    for (const [value, must] of memberFaults(member)) {
      expect([value, await ask('', { ...good, [name]: value })]).toEqual([
        value,
        `/${name} must be ${must}.`,
      ]);
    }
    if (member.type !== 'array') continue;
    expect(await ask('', { ...good, [name]: ['a', null] })).toBe(`/${name}/1 must be a string.`);
  }
}

it.each(operationsOf(document))(
  '$operationId names the invalid parameter and its allowed values',
  async ({ method, path, operation }) => {
    const inPlace = (place: string) =>
      new Map<string, Schema>(
        operation.parameters
          .filter((parameter: Document) => parameter.in === place)
          .map(({ name, schema }: Document): [string, Schema] => [name, resolved(schema)]),
      );
    const body: Schema | undefined =
      operation.requestBody && resolved(operation.requestBody.content['application/json'].schema);
    const ask: Ask = async (
      query,
      sent = body && bodyOf(body),
      target = path.replaceAll(/\{\w+\}/g, randomUUID()),
    ) => {
      const options: Call = {
        key,
        method,
        body: sent,
        ...(body && { headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() } }),
      };
      const answer = await call(port, `${target}${query && '?'}${query}`, options);
      expectProblem(answer, 'INVALID_REQUEST');
      return answer.json.detail;
    };
    for (const [name, schema] of inPlace('path')) {
      for (const [value, must] of parameterFaults(schema)) {
        const target = path.replace(`{${name}}`, encodeURIComponent(String(value)));
        expect([value, await ask('', undefined, target)]).toEqual([
          value,
          `Path parameter '${name}' must be ${must}.`,
        ]);
      }
    }
    if (body) await expectBodyFaults(ask, body);
    await expectQueryFaults(ask, inPlace('query'));
  },
);
