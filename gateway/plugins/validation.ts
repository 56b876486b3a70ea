import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { type ParsedQuery, QUERY_FAULT } from '../http/query-string.ts';
import { MAX_POINTER_SHOWN, Problem } from '../problems/problem.ts';

/** The request parts that operations have schemas for; headers are checked by separate code. */
type HttpPart = 'params' | 'querystring' | 'body';

/** The schema keywords that details are built from. */
interface DescribedSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly 'x-allowed'?: string;
  readonly properties?: Readonly<Record<string, DescribedSchema>>;
  readonly items?: DescribedSchema;
}

const INTEGER = /^-?(0|[1-9][0-9]{0,15})$/;

/**
 * Validates requests with the schemas that document the API. Nothing is coerced or dropped silently: query integers must
 * be in canonical decimal form, and a failure is a Problem that names the parameter or JSON pointer and what is allowed.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  const part = httpPart as HttpPart;
  const described = schema as DescribedSchema;
  return (given: unknown) => {
    const fault = part === 'querystring' ? (given as ParsedQuery)[QUERY_FAULT] : undefined;
    if (fault !== undefined) return { error: new Problem('INVALID_REQUEST', fault) };
    const value = part === 'querystring' ? withIntegers(described, given as ParsedQuery) : given;
    if (validator.Check(value)) return { value };
    const { keyword, instancePath, params } = validator.Errors(value)[0]!;
    const detail =
      keyword === 'required'
        ? requiredDetail(part, instancePath, params as { requiredProperties: string[] })
        : invalidDetail(part, described, instancePath);
    return { error: new Problem('INVALID_REQUEST', detail) };
  };
};

function withIntegers({ properties = {} }: DescribedSchema, query: ParsedQuery): ParsedQuery {
  let typed = query;
  for (const name in query) {
    const value = query[name] as string;
    if (properties[name]?.type !== 'integer' || !INTEGER.test(value)) continue;
    if (typed === query) typed = { ...query };
    typed[name] = Number(value);
  }
  return typed;
}

function requiredDetail(
  part: HttpPart,
  instancePath: string,
  { requiredProperties: [name = ''] }: { requiredProperties: string[] },
): string {
  return `${locationOf(part, `${instancePath}/${name}`)} is required.`;
}

function invalidDetail(part: HttpPart, schema: DescribedSchema, instancePath: string): string {
  let at: DescribedSchema | undefined = schema;
  let within = schema;
  for (const step of instancePath.split('/').slice(1)) {
    within = at!;
    at = memberOf(within, step);
    if (at === undefined) break;
  }
  if (at !== undefined) return `${locationOf(part, instancePath)} must be ${allowedBy(at)}.`;
  const names = Object.keys(within.properties ?? {});
  return `${locationOf(part, instancePath)} is unknown; allowed: ${names.sort().join(', ') || 'none'}.`;
}

function memberOf({ properties, items }: DescribedSchema, step: string): DescribedSchema | undefined {
  return properties && Object.hasOwn(properties, step) ? properties[step] : items;
}

function locationOf(part: HttpPart, pointer: string): string {
  const name = unescapePointer(pointer.slice(1)).slice(0, MAX_POINTER_SHOWN);
  switch (part) {
    case 'querystring':
      return `Query parameter '${name}'`;
    case 'params':
      return `Path parameter '${name}'`;
    case 'body':
      return pointer === '' ? 'The body' : pointer.slice(0, MAX_POINTER_SHOWN);
    default:
      return part satisfies never;
  }
}

function unescapePointer(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function lengths(min: number | undefined, max: number): string {
  return min === undefined ? `at most ${max}` : `${min} to ${max}`;
}

function allowedBy(schema: DescribedSchema): string {
  if (schema['x-allowed'] !== undefined) return schema['x-allowed'];
  if (schema.enum) return `one of ${schema.enum.join(', ')}`;
  if (schema.format === 'uuid') return 'a UUID';
  switch (schema.type) {
    case 'integer':
      return `an integer from ${schema.minimum} to ${schema.maximum}`;
    case 'string':
      return schema.maxLength === undefined
        ? 'a string'
        : `a string of ${lengths(schema.minLength, schema.maxLength)} characters`;
    case 'array':
      return `an array of ${schema.minItems ?? 0} to ${schema.maxItems}${schema.uniqueItems ? ' distinct' : ''} items`;
    case 'object':
      return 'a JSON object';
    default:
      return `a JSON ${schema.type}`;
  }
}
