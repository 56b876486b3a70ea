/** Comments, strings, quoted names, dollar-quoted bodies, and what is between them. */
const TOKEN = /--[^\n]*|'[^']*'|"[^"]*"|\$(\w*)\$[\s\S]*?\$\1\$|;|[^-'"$;]+|[\s\S]/g;

/** The statements of a file, of SQL as migrations have it: no block comments and no escape strings. */
export function sqlStatements(sql: string): string[] {
  const statements = [''];
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token === ';') statements.push('');
    else if (!token.startsWith('--')) statements[statements.length - 1] += token;
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}
