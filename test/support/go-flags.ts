import { COMPILER_FLAGS } from '../../local/temporal/temporal-build.ts';

/** `GOFLAGS` as the Temporal server is compiled with: so Go's own packages are in its cache. */
export const GOFLAGS = COMPILER_FLAGS.map((flag) => `'${flag}'`).join(' ');
