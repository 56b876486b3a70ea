import { COMPILER_ENVIRONMENT, COMPILER_FLAGS } from '../../local/temporal/temporal-build.ts';

/** Compiles as the Temporal server is compiled, so that Go's own packages are in its cache. */
export const GO_ENVIRONMENT = {
  ...COMPILER_ENVIRONMENT,
  ...process.env,
  GOFLAGS: COMPILER_FLAGS.map((flag) => `'${flag}'`).join(' '),
};
