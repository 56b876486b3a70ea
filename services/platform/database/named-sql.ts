import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Values by the names that SQL written by hand gives them: `where id = :id`. All SQL of this system names its
 * parameters in this way, whichever client runs it.
 */
export type NamedParameters = Readonly<Record<string, unknown>>;

/** `:name`, but neither the cast `::type` nor the time format 'HH24:MI'. */
const PARAMETER = /(?<![:\w]):([a-zA-Z]\w*)/g;

const compiled = new Map<string, { readonly text: string; readonly names: readonly string[] }>();

/**
 * Binds a statement for node-postgres: $1, $2 …, one for each name. Statements are compiled once, so SQL must not be
 * assembled from values. Throws TypeError for a parameter without a value.
 */
export function bindNamed(sql: string, parameters: NamedParameters): { text: string; values: unknown[] } {
  let statement = compiled.get(sql);
  if (!statement) {
    statement = compile(sql);
    compiled.set(sql, statement);
  }
  const { text, names } = statement;
  return { text, values: names.map((name) => valueNamed(parameters, name)) };
}

function compile(sql: string) {
  const names: string[] = [];
  const text = sql.replaceAll(PARAMETER, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, names };
}

function valueNamed(parameters: NamedParameters, name: string): unknown {
  if (!(name in parameters)) throw new TypeError(`no value is given for the parameter :${name}`);
  return parameters[name];
}

/** Runs a statement in a transaction of the entity manager; returns its rows. It binds arrays of text, ids and numbers. */
export function executeNamed<Row>(
  em: EntityManager,
  sql: string,
  parameters: NamedParameters = {},
): Promise<Row[]> {
  const values = Object.entries(parameters).map(([name, value]) => [
    name,
    Array.isArray(value) ? arrayLiteral(value) : value,
  ]);
  return em.execute<Row[]>(sql, Object.fromEntries(values));
}

/** The entity manager itself would bind a list, as `in` takes it. */
const arrayLiteral = (values: readonly unknown[]) =>
  `{${values.map((value) => `"${String(value).replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
