import type { Json } from './named-schemas.ts';

/** The schema keywords that examples are built from. */
interface ExampleSchema {
  readonly type?: string | readonly string[];
  readonly examples?: readonly Json[];
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly properties?: Readonly<Record<string, ExampleSchema>>;
  readonly items?: ExampleSchema;
}

/** A valid value of a schema: its example, default or first enum value, or else composed from its members' examples. */
export function exampleOf(schema: object): Json {
  const { examples, default: fallback, enum: names, properties, items, type } = schema as ExampleSchema;
  if (examples) return JSON.parse(JSON.stringify(examples[0])) as Json;
  if (fallback !== undefined) return fallback;
  if (names) return names[0]!;
  if (items) return [exampleOf(items)];
  if (!properties) throw new TypeError(`a schema of type ${type} has no example`);
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, exampleOf(member)]));
}
