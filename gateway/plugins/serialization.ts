import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import type { FastifySchema, FastifySerializerCompiler } from 'fastify';

/** Formats whose values come from our code or PostgreSQL and never need escaping. */
const SAFE_FORMATS: ReadonlySet<unknown> = new Set(['uuid', 'date', 'date-time']);

/**
 * Serializes responses by their schemas: bigints as exact integers, required members in schema order, then optional
 * ones. A missing required member is an error; undeclared members are omitted.
 */
export const serializerCompiler: FastifySerializerCompiler<FastifySchema> = ({ schema }) =>
  fastJsonStringify(withoutEscaping(schema) as Schema);

/** Marks values that never need escaping; a list response holds hundreds of them. */
function withoutEscaping(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutEscaping);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { enum: names, ...rest } = schema as Record<string, unknown>;
  const copy = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withoutEscaping(value)]));
  if (names !== undefined || SAFE_FORMATS.has(copy.format)) copy.format = 'unsafe';
  return copy;
}
