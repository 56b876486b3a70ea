import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferEntity, SnakeCase } from '@mikro-orm/postgresql';
import { columnName } from '../database/column-names.ts';
import { timestampOf } from '../timestamps.ts';

/**
 * The columns of an entity as hot reads return them: names in snake case, int8 as bigint, timestamptz as protobuf
 * Timestamps (see `readTypes`), everything else as in the entity.
 */
export type ReadTable<Entity> = ReadRowOf<InferEntity<Entity>>;

export type ReadRowOf<Row> = { [K in keyof Row & string as SnakeCase<K>]: ReadValue<Row[K]> };

type ReadValue<Value> = Value extends Date ? Timestamp : Value;

/** An entity as `defineEntity` returns it. */
interface DefinedEntity {
  readonly meta: { readonly properties: object };
}

/**
 * All columns of an entity, instead of `*`: a prepared statement with `*` fails on its connection once a migration has
 * added a column, and migrations run while the previous release is still serving.
 * @param table the table's name in the query, where it is not the only one.
 */
export function columnsOf<Entity extends DefinedEntity>(entity: Entity): (keyof ReadTable<Entity> & string)[];
export function columnsOf<Entity extends DefinedEntity, Table extends string>(
  entity: Entity,
  table: Table,
): `${Table}.${keyof ReadTable<Entity> & string}`[];
export function columnsOf(entity: DefinedEntity, table?: string): string[] {
  const columns = Object.keys(entity.meta.properties).map(columnName);
  return table === undefined ? columns : columns.map((column) => `${table}.${column}`);
}

/** Converts an entity to the form of a hot read, so that one function builds messages from both. */
export function readRowOf<Row extends object>(row: Row): ReadRowOf<Row> {
  const entries = Object.entries(row).map(([property, value]) => [
    columnName(property),
    value instanceof Date ? timestampOf(value) : value,
  ]);
  return Object.fromEntries(entries) as ReadRowOf<Row>;
}
