import { migrate } from './platform/database/migrate.ts';
import { KEY_RINGS, RPC_TLS, readConfig, TEMPORAL_SECURITY } from './platform/process/config.ts';
import { runTask } from './platform/process/run-process.ts';

/** Applies pending migrations and exits, for deployments that migrate before starting any process. */
await runTask('migrate', async () => {
  const config = readConfig(process.env, {
    required: ['DATABASE_URL'],
    unused: [...KEY_RINGS, ...TEMPORAL_SECURITY, ...RPC_TLS],
  });
  const applied = await migrate(config.DATABASE_URL);
  console.log(applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to apply');
});
