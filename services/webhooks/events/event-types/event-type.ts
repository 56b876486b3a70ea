import { Type } from 'typebox';
import { MAX_AMOUNT_MINOR } from '../../../platform/amounts.ts';
import type { EVENT_NOUNS } from '../../../platform/rpc/grants.ts';

/** An event type that merchants can subscribe to: its name, its description and its `data`. */
export interface EventTypeDefinition {
  /** `<noun>.<past tense>.v1`. */
  readonly name: `${(typeof EVENT_NOUNS)[number]}.${string}.v1`;
  readonly description: string;
  /** JSON Schema of `data`. */
  readonly schema: Type.TSchema;
  /** Valid against the schema. */
  readonly example: Record<string, unknown>;
}

/** Schemas of properties. The public API's documentation is generated from their descriptions. */
export const uuid = (description: string) => Type.String({ format: 'uuid', description });
export const dateTime = (description: string) => Type.String({ format: 'date-time', description });
export const date = (description: string) => Type.String({ format: 'date', description });
export const amount = (description: string, minimum = 0) =>
  Type.Integer({ minimum, maximum: Number(MAX_AMOUNT_MINOR), description: `${description}, in centavos.` });
export const count = (description: string, minimum = 0, maximum?: number) =>
  Type.Integer({ minimum, ...(maximum !== undefined && { maximum }), description });
export const text = (description: string, bounds: Type.TStringOptions = {}) =>
  Type.String({ ...bounds, description });
export const oneOf = (description: string, ...values: string[]) =>
  Type.Unsafe<string>({ type: 'string', enum: values, description });
export const listOf = (description: string, item: Type.TSchema) => Type.Array(item, { description });
/** A required value that may be null. */
export const nullable = (schema: Type.TSchema) => {
  const { type, enum: names, ...rest } = schema as { type?: string; enum?: readonly string[] };
  return Type.Unsafe<unknown>({ type: [type, 'null'], ...(names && { enum: [...names, null] }), ...rest });
};

/** An object with exactly these properties. */
export const closed = (description: string, properties: Record<string, Type.TSchema>) =>
  Type.Object(properties, { description, additionalProperties: false });
