import { Database, type DatabaseOptions } from '../../services/platform/database/database.ts';

/** Opens a test's own connections to a database. The test closes them. Default: two of each kind, without entities. */
export const openDatabase = (
  url: string,
  options: Partial<Omit<DatabaseOptions, 'url'>> = {},
): Promise<Database> =>
  Database.open({ url, poolSize: 2, preparedStatements: true, entities: [], ...options });
