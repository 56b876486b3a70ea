import { env } from 'node:process';

/** Makes property tests run only the sequence of a failure: FC_SEED and FC_PATH as printed. */
if (env.FC_SEED) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({
    seed: Number(env.FC_SEED),
    ...(env.FC_PATH && { path: env.FC_PATH, endOnFailure: true }),
  });
}
