/** The migrated database that test databases are cloned from. */
export const TEMPLATE = 'payments_template';

/** The URL of another database of the same server. */
export function databaseNamed(url: string, name: string): string {
  const named = new URL(url);
  named.pathname = `/${name}`;
  return named.href;
}
