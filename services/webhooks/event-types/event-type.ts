import { Type } from 'typebox';

/** A type of event that merchants can subscribe to: what it says, and what its `data` holds. */
export interface EventTypeDefinition {
  /** `<noun>.<past tense>.v1`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of `data`. */
  readonly schema: Type.TSchema;
  /** Valid against the schema. */
  readonly example: Record<string, unknown>;
}

const MAX_AMOUNT = Number.MAX_SAFE_INTEGER;

export const uuid = () => Type.String({ format: 'uuid' });
export const dateTime = () => Type.String({ format: 'date-time' });
export const date = () => Type.String({ format: 'date' });
/** Centavos. */
export const amount = (minimum = 0) => Type.Integer({ minimum, maximum: MAX_AMOUNT });
export const oneOf = (...values: string[]) => Type.Enum(values);
export const nullable = (schema: Type.TSchema) => Type.Union([schema, Type.Null()]);

/** An object of exactly these members. */
export const closed = (properties: Record<string, Type.TSchema>) =>
  Type.Object(properties, { additionalProperties: false });
