import { env } from 'node:process';

/** Has property tests run the one sequence that a failure has named: FC_SEED and FC_PATH as it printed them. */
if (env.FC_SEED) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({
    seed: Number(env.FC_SEED),
    ...(env.FC_PATH && { path: env.FC_PATH, endOnFailure: true }),
  });
}
