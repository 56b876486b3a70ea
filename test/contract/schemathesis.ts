import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Target } from './whole-system.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const RUN_LIMIT_MS = 5 * 60_000;

export interface SchemathesisRun {
  readonly python: string;
  /** Takes what Schemathesis writes. */
  readonly scratch: string;
  readonly target: Target;
  readonly seed: number;
  /** More of its command line. */
  readonly args: readonly string[];
}

/** Runs Schemathesis over the document that the target serves, with all checks. Resolves with whether all held. */
export async function schemathesis({
  python,
  scratch,
  target,
  seed,
  args,
}: SchemathesisRun): Promise<boolean> {
  const { baseUrl, productId } = target;
  const authFile = join(scratch, 'contract-auth.json');
  writeFileSync(authFile, JSON.stringify(authOf(target)), { mode: 0o600 });
  const command = ['-m', 'schemathesis.cli', '--config-file', join(FOLDER, 'schemathesis.toml'), 'run'];
  const options = ['--checks', 'all', '--seed', String(seed), '--generation-database', 'none', '--no-color'];
  const child = spawn(
    python,
    [...command, `${baseUrl}/openapi.json`, '--url', baseUrl, ...options, ...args],
    {
      cwd: scratch,
      env: {
        ...process.env,
        CONTRACT_FOLDER: FOLDER,
        CONTRACT_AUTH_FILE: authFile,
        CONTRACT_PRODUCT_ID: productId,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONUNBUFFERED: '1',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: RUN_LIMIT_MS,
    },
  );
  const [code, signal] = await once(child, 'exit');
  if (signal) console.error(`Schemathesis was stopped by ${signal} after at most ${RUN_LIMIT_MS / 1000} s`);
  return code === 0;
}

/** Web Fuzzing Commons' form of credentials. */
function authOf({ keys }: Target) {
  return {
    auth: Object.entries(keys).map(([name, key]) => ({
      name,
      fixedHeaders: [{ name: 'Authorization', value: `Bearer ${key}` }],
    })),
  };
}
