import type { EntityManager, QueryResult } from '@mikro-orm/postgresql';

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

interface CompiledSql {
  readonly text: string;
  /** In the order of $1, $2 …, each once. */
  readonly names: readonly string[];
}

const compiled = new Map<string, CompiledSql>();

/**
 * Binds a statement for node-postgres. Statements are compiled once, so SQL must not be assembled from values.
 * Throws TypeError for a parameter without a value.
 */
export function bindNamed(sql: string, parameters: NamedParameters): PositionalStatement {
  let statement = compiled.get(sql);
  if (!statement) {
    statement = compile(sql);
    compiled.set(sql, statement);
  }
  const values = statement.names.map((name) => valueNamed(parameters, name));
  return { text: statement.text, values };
}

function compile(sql: string): CompiledSql {
  const names: string[] = [];
  const text = sql.replaceAll(PARAMETER, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, names };
}

/** Runs a statement in a transaction of the entity manager; answers its rows. */
export async function executeNamed<Row>(
  em: EntityManager,
  sql: string,
  parameters: NamedParameters = {},
): Promise<Row[]> {
  const { text, values } = bindForEntityManager(sql, parameters);
  return em.execute<Row[]>(text, values);
}

/** Runs a statement in a transaction of the entity manager; answers how many rows it changed. */
export async function countAffectedNamed(
  em: EntityManager,
  sql: string,
  parameters: NamedParameters = {},
): Promise<number> {
  const { text, values } = bindForEntityManager(sql, parameters);
  const { affectedRows } = await em.execute<QueryResult>(text, values, 'run');
  return affectedRows;
}

/** The entity manager takes `?` for each use of a parameter. */
function bindForEntityManager(sql: string, parameters: NamedParameters): PositionalStatement {
  const values: unknown[] = [];
  const text = sql.replaceAll(PARAMETER, (_, name: string) => {
    values.push(valueNamed(parameters, name));
    return '?';
  });
  return { text, values };
}

function valueNamed(parameters: NamedParameters, name: string): unknown {
  if (!(name in parameters)) throw new TypeError(`no value is given for the parameter :${name}`);
  return parameters[name];
}
