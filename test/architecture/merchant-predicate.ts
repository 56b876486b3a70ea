import { parse } from 'libpg-query';

/** A node of PostgreSQL's parse tree. */
type Node = Readonly<Record<string, unknown>>;

/** A row source of a statement: a table, a CTE, a subquery or a function. */
interface Source {
  readonly alias: string;
  /** The table with its schema; undefined for other sources. */
  readonly table: string | undefined;
  /** The source or constant that its merchant equals, once an equality has said so. */
  equals: Source | 'constant' | undefined;
}

interface Scope {
  readonly sources: Source[];
  readonly ctes: Map<string, Source>;
  readonly outer: Scope | undefined;
}

/**
 * The tables of a statement that it does not limit to given merchants: no conjunct of its conditions compares their
 * merchant_id with a constant or a parameter, or with the merchant_id of a row source that is limited. An insert has to
 * fill merchant_id.
 */
export async function tablesOfAnyMerchant(sql: string): Promise<string[]> {
  const statement = new Statement();
  const { stmts = [] } = (await parse(sql)) as { stmts?: { stmt: Node }[] };
  for (const { stmt } of stmts) statement.query(stmt, undefined);
  return statement.tablesOfAnyMerchant();
}

const QUERIES = ['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt'];
const list = (nodes: unknown) => (nodes ?? []) as Node[];
const node = (of: Node | undefined, name: string) => of?.[name] as Node | undefined;

class Statement {
  readonly #tables: Source[] = [];

  tablesOfAnyMerchant(): string[] {
    const stray = this.#tables.filter((source) => rootOf(source) !== 'constant');
    return [...new Set(stray.map(({ table }) => table!))].sort();
  }

  /** Reads a query; returns what the merchant_id of its rows is. */
  query(wrapped: Node, outer: Scope | undefined): Source | 'constant' | undefined {
    const kind = QUERIES.find((name) => wrapped[name]);
    const query = kind ? node(wrapped, kind)! : wrapped;
    const scope: Scope = { sources: [], ctes: new Map(), outer };
    this.#readCtes(query, scope);
    if (query.larg) return this.#setOperation(query, scope);
    if (query.relation) this.#addSource({ RangeVar: query.relation }, scope);
    if (kind === 'InsertStmt') return this.#insert(query, scope);
    for (const from of [...list(query.fromClause), ...list(query.usingClause)]) this.#addSource(from, scope);
    this.#readCondition(query.whereClause as Node | undefined, scope);
    this.#readSublinks([query.targetList, query.havingClause, query.sortClause, query.valuesLists], scope);
    return merchantOf(kind === 'SelectStmt' || !kind ? query.targetList : query.returningList, scope);
  }

  #readCtes(query: Node, scope: Scope) {
    for (const cte of list(node(query, 'withClause')?.ctes)) {
      const { ctename, ctequery } = cte.CommonTableExpr as { ctename: string; ctequery: Node };
      const equals = this.query(ctequery, scope);
      scope.ctes.set(ctename, { alias: ctename, table: undefined, equals });
    }
  }

  /** Every branch of a union must be limited by itself; the union's merchant_id is that of the first. */
  #setOperation({ larg, rarg }: Node, scope: Scope) {
    const first = this.query(larg as Node, scope);
    return this.query(rarg as Node, scope) && first;
  }

  #insert(query: Node, scope: Scope) {
    const [target] = scope.sources;
    const columns = list(query.cols).map((column) => node(column, 'ResTarget')?.name);
    if (columns.includes('merchant_id')) target!.equals = 'constant';
    if (query.selectStmt) this.query(query.selectStmt as Node, scope);
    return merchantOf(query.returningList, scope);
  }

  #addSource(from: Node, scope: Scope) {
    const join = node(from, 'JoinExpr');
    if (join) {
      const before = scope.sources.length;
      this.#addSource(join.larg as Node, scope);
      const right = scope.sources.length;
      this.#addSource(join.rarg as Node, scope);
      this.#readCondition(join.quals as Node | undefined, scope);
      const using = list(join.usingClause).map((column) => node(column, 'String')?.sval);
      if (using.includes('merchant_id')) equate(scope.sources[before], scope.sources[right]);
      return;
    }
    scope.sources.push(this.#sourceOf(from, scope));
  }

  #sourceOf(from: Node, scope: Scope): Source {
    const [kind, value] = Object.entries(from)[0] as [string, Node];
    const alias = node(value, 'alias')?.aliasname as string | undefined;
    if (kind === 'RangeSubselect') {
      return { alias: alias ?? '', table: undefined, equals: this.query(value.subquery as Node, scope) };
    }
    if (kind !== 'RangeVar') {
      this.#readSublinks(value, scope);
      return { alias: alias ?? '', table: undefined, equals: undefined };
    }
    const name = value.relname as string;
    if (!value.schemaname) return { alias: alias ?? name, table: undefined, equals: cteOf(name, scope) };
    const source: Source = { alias: alias ?? name, table: `${value.schemaname}.${name}`, equals: undefined };
    this.#tables.push(source);
    return source;
  }

  /** Only conjuncts limit: an equality beside `or` or under `not` does not. */
  #readCondition(condition: Node | undefined, scope: Scope) {
    if (!condition) return;
    const both = node(condition, 'BoolExpr');
    if (both?.boolop === 'AND_EXPR') {
      for (const part of list(both.args)) this.#readCondition(part, scope);
      return;
    }
    const expression = node(condition, 'A_Expr');
    const operator = list(expression?.name)[0];
    if (expression && node(operator, 'String')?.sval === '=') readEquality(expression, scope);
    this.#readSublinks(condition, scope);
  }

  #readSublinks(value: unknown, scope: Scope) {
    if (typeof value !== 'object' || value === null) return;
    const sublink = node(value as Node, 'SubLink');
    if (sublink) this.query(sublink.subselect as Node, scope);
    for (const [name, part] of Object.entries(sublink ? { test: sublink.testexpr } : value)) {
      if (QUERIES.includes(name)) this.query({ [name]: part }, scope);
      else this.#readSublinks(part, scope);
    }
  }
}

/** `a = b`, `(a, b) = (c, d)`, and `(a, b) in ((c, d), …)`, whose merchants are all given. */
function readEquality({ kind, lexpr, rexpr }: Node, scope: Scope) {
  const left = fields(lexpr as Node);
  const right = kind === 'AEXPR_IN' ? given(rexpr as Node) : fields(rexpr as Node);
  if (kind !== 'AEXPR_OP' && kind !== 'AEXPR_IN') return;
  for (const [at, one] of left.entries()) {
    const other = right.length === left.length ? right[at] : undefined;
    if (!other) continue;
    const [a, b] = [merchantColumn(one, scope), merchantColumn(other, scope)];
    if (a && b) equate(a, b);
    else if (a && isGiven(other)) equate(a, 'constant');
    else if (b && isGiven(one)) equate(b, 'constant');
  }
}

const fields = (expression: Node): Node[] => {
  const row = node(expression, 'RowExpr');
  return row ? list(row.args) : [expression];
};

function given(rows: Node): Node[] {
  const items = list(node(rows, 'List')?.items);
  const isOfConstants = items.every((item) => fields(item).every(isGiven));
  return isOfConstants ? fields(items[0]!) : [];
}

const isGiven = (expression: Node): boolean => {
  const cast = node(expression, 'TypeCast');
  return cast ? isGiven(cast.arg as Node) : Boolean(expression.A_Const ?? expression.ParamRef);
};

/** The source whose merchant_id a column is. */
function merchantColumn(expression: Node, scope: Scope): Source | undefined {
  const names = list(node(expression, 'ColumnRef')?.fields).map((field) => node(field, 'String')?.sval);
  if (names.at(-1) !== 'merchant_id') return undefined;
  if (names.length === 1) return scope.sources.length === 1 ? scope.sources[0] : undefined;
  for (let at: Scope | undefined = scope; at; at = at.outer) {
    const found = at.sources.find(({ alias }) => alias === names.at(-2));
    if (found) return found;
  }
  return undefined;
}

function cteOf(name: string, scope: Scope): Source | undefined {
  for (let at: Scope | undefined = scope; at; at = at.outer) {
    const found = at.ctes.get(name);
    if (found) return found;
  }
  return undefined;
}

/** What merchant_id is in the rows of a select or a returning list. */
function merchantOf(targets: unknown, scope: Scope): Source | 'constant' | undefined {
  for (const target of list(targets)) {
    const { name, val } = target.ResTarget as { name?: string; val: Node };
    const source = merchantColumn(val, scope);
    if (source && (name === undefined || name === 'merchant_id')) return source;
    if (name === 'merchant_id' && isGiven(val)) return 'constant';
    const isStar = list(node(val, 'ColumnRef')?.fields).some((field) => field.A_Star);
    if (isStar) return scope.sources[0];
  }
  return undefined;
}

function rootOf(source: Source | 'constant'): Source | 'constant' {
  let at = source;
  while (at !== 'constant' && at.equals) at = at.equals;
  return at;
}

function equate(one: Source | undefined, other: Source | 'constant' | undefined) {
  if (!one || !other) return;
  const [a, b] = [rootOf(one), rootOf(other)];
  if (a === b) return;
  if (a !== 'constant') a.equals = b;
  else if (b !== 'constant') b.equals = a;
}
