import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Values by the names that SQL written by hand gives them: `where id = :id`. All SQL of this system names its
 * parameters in this way, whichever client runs it.
 */
export type NamedParameters = Readonly<Record<string, unknown>>;

/** A statement as node-postgres takes it. */
export interface PositionalStatement {
  readonly text: string;
  readonly values: unknown[];
}

/** `:name`, but neither the cast `::type` nor the time format 'HH24:MI'. */
const PARAMETER = /(?<![:\w]):([a-zA-Z]\w*)/g;

type Bind = (sql: string, parameters: NamedParameters) => PositionalStatement;

/**
 * Binds a statement for node-postgres: $1, $2 …, one for each name. Statements are compiled once, so SQL must not be
 * assembled from values. Throws TypeError for a parameter without a value.
 */
export const bindNamed: Bind = binder((name, names) => {
  if (!names.includes(name)) names.push(name);
  return `$${names.indexOf(name) + 1}`;
});

/** Binds a statement for the entity manager: `?` for each use of a name. */
const bindForEntityManager: Bind = binder((name, names) => {
  names.push(name);
  return '?';
});

/** Runs a statement in a transaction of the entity manager; returns its rows. It binds arrays of text, ids and numbers. */
export async function executeNamed<Row>(
  em: EntityManager,
  sql: string,
  parameters: NamedParameters = {},
): Promise<Row[]> {
  const { text, values } = bindForEntityManager(sql, parameters);
  return em.execute<Row[]>(
    text,
    values.map((value) => (Array.isArray(value) ? arrayLiteral(value) : value)),
  );
}

/** The entity manager itself would bind a list, as `in` takes it. */
const arrayLiteral = (values: readonly unknown[]) =>
  `{${values.map((value) => `"${String(value).replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;

/** @param placeholder returns the placeholder of a use of a name, and adds to the names of the values to pass. */
function binder(placeholder: (name: string, names: string[]) => string): Bind {
  const compiled = new Map<string, { readonly text: string; readonly names: readonly string[] }>();
  const compile = (sql: string) => {
    const names: string[] = [];
    const text = sql.replaceAll(PARAMETER, (_, name: string) => placeholder(name, names));
    return { text, names };
  };
  return (sql, parameters) => {
    let statement = compiled.get(sql);
    if (!statement) {
      statement = compile(sql);
      compiled.set(sql, statement);
    }
    const values = statement.names.map((name) => valueNamed(parameters, name));
    return { text: statement.text, values };
  };
}

function valueNamed(parameters: NamedParameters, name: string): unknown {
  if (!(name in parameters)) throw new TypeError(`no value is given for the parameter :${name}`);
  return parameters[name];
}
