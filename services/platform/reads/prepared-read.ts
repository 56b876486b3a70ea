import { type CompiledQuery, type RawBuilder, sql } from 'kysely';

/** The parameters of a read while it is being built: which are given, and their placeholders. */
export interface ReadParameters<P> {
  /** Whether the caller passes a value; the statement may depend on which filters are given. */
  has(name: keyof P): boolean;
  /** The placeholder of a parameter's value. */
  <K extends keyof P>(name: K): RawBuilder<NonNullable<P[K]>>;
}

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A read, compiled, with its values. */
export type PreparedRead<Row = unknown> = CompiledQuery<Row> & {
  /** The most rows that it returns; undefined if that is not known. */
  readonly maxRows?: number | undefined;
};

/** The same read on a connection of its own: its rows are few, but take long to find. */
export const onOwnConnection = <Row>(read: PreparedRead<Row>): PreparedRead<Row> => ({
  ...read,
  maxRows: undefined,
});

/**
 * Prepares a hot read: builds and compiles it once per set of given parameters; later calls only fill in the values.
 * Compiling costs more than everything else that a small read does in this process. The parameter `limit`, if any,
 * is the most rows.
 */
export function prepareRead<P extends object, Row>(
  build: (parameters: ReadParameters<P>) => CompiledQuery<Row>,
) {
  const compiled = new Map<string, CompiledQuery<Row>>();
  return (values: P): PreparedRead<Row> => {
    const given = values as Record<string, unknown>;
    let signature = '';
    for (const name in given) if (given[name] !== undefined) signature += `${name} `;
    let query = compiled.get(signature);
    if (!query) {
      query = build(parametersOf<P>(given));
      compiled.set(signature, query);
    }
    const parameters = query.parameters.map((value) =>
      value instanceof Placeholder ? given[value.name] : value,
    );
    const { limit } = given;
    return { ...query, parameters, maxRows: typeof limit === 'number' ? limit : undefined };
  };
}

function parametersOf<P extends object>(given: Record<string, unknown>): ReadParameters<P> {
  const placeholder = <K extends keyof P>(name: K) =>
    sql<NonNullable<P[K]>>`${new Placeholder(String(name))}`;
  const has = (name: keyof P) => given[String(name)] !== undefined;
  return Object.assign(placeholder, { has });
}
