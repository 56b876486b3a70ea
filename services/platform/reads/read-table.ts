import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type InferEntity, type SnakeCase, UnderscoreNamingStrategy } from '@mikro-orm/postgresql';
import { timestampOf } from '../timestamps.ts';

/**
 * The columns of an entity as hot reads return them: names in snake case, int8 as bigint, timestamptz as protobuf
 * Timestamps (see `readTypes`), everything else as in the entity.
 */
export type ReadTable<Entity> = ReadRowOf<InferEntity<Entity>>;

export type ReadRowOf<Row> = { [K in keyof Row & string as SnakeCase<K>]: ReadValue<Row[K]> };

type ReadValue<Value> = Value extends Date ? Timestamp : Value;

const naming = new UnderscoreNamingStrategy();
const columnNames = new Map<string, string>();

/** Converts an entity to the form of a hot read, so that one function builds messages from both. */
export function readRowOf<Row extends object>(row: Row): ReadRowOf<Row> {
  const entries = Object.entries(row).map(([property, value]) => [
    columnName(property),
    value instanceof Date ? timestampOf(value) : value,
  ]);
  return Object.fromEntries(entries) as ReadRowOf<Row>;
}

function columnName(property: string): string {
  let name = columnNames.get(property);
  if (name === undefined) {
    name = naming.propertyToColumnName(property);
    columnNames.set(property, name);
  }
  return name;
}
