import { Client } from 'pg';
import { RPC_TLS, readConfig, TEMPORAL_SECURITY } from './platform/process/config.ts';
import { runTask } from './platform/process/run-process.ts';
import { countSealedWithOldKeys, reencryptSecrets } from './webhooks/subscriptions/reencrypt-secrets.ts';

/**
 * Re-encrypts all signing secrets with the first key of WEBHOOK_SECRET_KEYS and exits; afterwards the other keys can be
 * removed. A signal stops it after the current batch, and a later run continues. Exits with 1 if any secret is left.
 */
await runTask('reencrypt-secrets', async () => {
  const { DATABASE_URL, WEBHOOK_SECRET_KEYS: keys } = readConfig(process.env, {
    required: ['DATABASE_URL'],
    unused: ['API_KEY_PEPPERS', 'CURSOR_KEYS', ...TEMPORAL_SECURITY, ...RPC_TLS],
  });
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
  const client = new Client({ connectionString: DATABASE_URL });
  await client.connect();
  try {
    const total = await countSealedWithOldKeys(client, keys);
    const { resealed, unopened, left } = await reencryptSecrets(client, keys, {
      signal: stop.signal,
      onBatch: (done) => console.log(`resealed ${done} of ${total}`),
    });
    for (const id of unopened) console.error(`a secret of subscription ${id} cannot be opened`);
    console.log(`resealed ${resealed} with v${keys.current.id}; with other keys: ${left}`);
    if (left > 0) process.exitCode = 1;
  } finally {
    await client.end();
  }
});
