import { type CompiledQuery, type RawBuilder, sql } from 'kysely';

/** The parameters of a read while it is being built: which are given, and their places in the statement. */
export interface ReadParameters<P> {
  /** Whether the caller gives a value: a read may differ by which of its filters are given. */
  has(name: keyof P): boolean;
  /** The place of a parameter's value. */
  <K extends keyof P>(name: K): RawBuilder<NonNullable<P[K]>>;
}

class Place {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A hot read, built and compiled once for each set of parameters that are given; later calls only fill the values
 * in. Compiling costs more than everything else a small read does in this process.
 */
export function prepareRead<P extends object, Row>(
  build: (parameters: ReadParameters<P>) => CompiledQuery<Row>,
) {
  const compiled = new Map<string, CompiledQuery<Row>>();
  return (values: P): CompiledQuery<Row> => {
    const given = values as Record<string, unknown>;
    let shape = '';
    for (const name in given) if (given[name] !== undefined) shape += `${name} `;
    let query = compiled.get(shape);
    if (!query) {
      query = build(parametersOf<P>(given));
      compiled.set(shape, query);
    }
    const parameters = query.parameters.map((value) => (value instanceof Place ? given[value.name] : value));
    return { ...query, parameters };
  };
}

function parametersOf<P extends object>(given: Record<string, unknown>): ReadParameters<P> {
  const place = (name: keyof P) => sql.val(new Place(String(name)));
  const has = (name: keyof P) => given[String(name)] !== undefined;
  return Object.assign(place, { has }) as unknown as ReadParameters<P>;
}
