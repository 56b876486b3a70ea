import type { Json, JsonObject } from './named-schemas.ts';

/** The keywords that an example is found by. */
interface Exemplified {
  readonly type?: string | readonly string[];
  readonly examples?: readonly Json[];
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly properties?: Readonly<Record<string, Exemplified>>;
  readonly items?: Exemplified;
}

/** A valid value: the schema's own example, else its default or first name, else one made of its members' examples. */
export function exampleOf(schema: object): Json {
  const { examples, default: fallback, enum: names, properties, items, type } = schema as Exemplified;
  if (examples) return JSON.parse(JSON.stringify(examples[0])) as Json;
  if (fallback !== undefined) return fallback;
  if (names) return names[0]!;
  if (items) return [exampleOf(items)];
  if (properties) return exampleOfMembers(properties);
  throw new TypeError(`a schema of type ${type} has no example`);
}

function exampleOfMembers(properties: Readonly<Record<string, Exemplified>>): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, exampleOf(member)]));
}
