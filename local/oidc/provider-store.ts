import { DatabaseSync } from 'node:sqlite';
import type { Adapter, AdapterPayload } from 'oidc-provider';

/** Stores the local OpenID provider's sessions, grants and codes in a SQLite file. */
export class ProviderStore {
  readonly #database: DatabaseSync;

  /** @param path of its file, which is created if it is missing. */
  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    this.#database.exec(`
      create table if not exists record (
        model text not null, id text not null, payload text not null,
        uid text, grant_id text, expires_at integer, primary key (model, id)
      ) without rowid`);
  }

  /** oidc-provider's adapter for the records of one model. */
  adapterOf(model: string): Adapter {
    const run = (sql: string, ...values: (string | number | null)[]) =>
      void this.#database.prepare(sql).run(model, ...values);
    const find = async (column: 'id' | 'uid', value: string) => {
      const row = this.#database
        .prepare(`select payload from record where model = ? and ${column} = ? and expires_at > ?`)
        .get(model, value, now());
      return row && (JSON.parse(row.payload as string) as AdapterPayload);
    };
    return {
      async upsert(id, payload, expiresIn) {
        run('delete from record where model = ? and expires_at <= ?', now());
        const { uid = null, grantId = null } = payload;
        run(
          'insert or replace into record (model, id, payload, uid, grant_id, expires_at) values (?, ?, ?, ?, ?, ?)',
          id,
          JSON.stringify(payload),
          uid,
          grantId,
          expiresIn === undefined ? Number.MAX_SAFE_INTEGER : now() + expiresIn,
        );
      },
      find: (id) => find('id', id),
      findByUid: (uid) => find('uid', uid),
      // Only the device flow needs it, which is disabled.
      findByUserCode: async () => undefined,
      consume: async (id) =>
        run(
          `update record set payload = json_set(payload, '$.consumed', unixepoch()) where model = ? and id = ?`,
          id,
        ),
      destroy: async (id) => run('delete from record where model = ? and id = ?', id),
      revokeByGrantId: async (grantId) => run('delete from record where model = ? and grant_id = ?', grantId),
    };
  }

  close(): void {
    this.#database.close();
  }
}

const now = () => Math.floor(Date.now() / 1_000);
