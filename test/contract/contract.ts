// `npm run contract`: Schemathesis over the served OpenAPI document, against the whole system as `npm start` runs it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PythonMissing, pythonEnvironment } from './python-environment.ts';
import { startWholeSystem, type Target, temporaryDataDir } from './whole-system.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const RUN_LIMIT_MS = 5 * 60_000;
const HIGH = '1000000';

/** Limits that no run reaches, so that it is about the operations; and deliveries that leave this machine for nowhere. */
const RAISED_LIMITS = {
  RATE_LIMIT_LIVE: HIGH,
  RATE_LIMIT_SANDBOX: HIGH,
  RATE_LIMIT_ADDRESS: HIGH,
  WEBHOOK_SUBSCRIPTION_LIMIT: '10000',
};
/** Subscriptions of a run name made-up hosts: deliveries to them end at a port that nobody listens on. */
const NO_DELIVERIES = { WEBHOOK_EGRESS_PROXY: 'http://127.0.0.1:9' };

const { values: options } = parseArgs({
  options: { seed: { type: 'string', default: '20261121' }, examples: { type: 'string', default: '50' } },
});

/** Runs Schemathesis to its end; whether nothing failed. */
async function test(python: string, dataDir: string, target: Target, args: readonly string[]) {
  const authFile = join(dataDir, 'contract-auth.json');
  writeFileSync(authFile, JSON.stringify(authOf(target)), { mode: 0o600 });
  const child = spawn(
    python,
    [
      ...[
        '-m',
        'schemathesis.cli',
        '--config-file',
        join(FOLDER, 'schemathesis.toml'),
        'run',
        `${target.baseUrl}/openapi.json`,
      ],
      ...['--url', target.baseUrl, '--checks', 'all', '--seed', options.seed],
      ...['--generation-database', 'none', '--no-color', ...args],
    ],
    {
      cwd: dataDir,
      env: {
        ...process.env,
        CONTRACT_FOLDER: FOLDER,
        CONTRACT_AUTH_FILE: authFile,
        CONTRACT_PRODUCT_ID: target.productId,
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

async function contract(): Promise<string[]> {
  const python = pythonEnvironment();
  using dataDir = temporaryDataDir();
  const failed: string[] = [];
  const check = async (name: string, target: Target, ...args: string[]) => {
    console.log(`\n# ${name}: ${target.baseUrl}, seed ${options.seed}`);
    if (!(await test(python, dataDir.path, target, args))) failed.push(name);
  };
  {
    await using system = await startWholeSystem(dataDir.path, { ...RAISED_LIMITS, ...NO_DELIVERIES });
    const { live, sandbox } = system.targets;
    await check('live', live, '--max-examples', options.examples);
    await check('sandbox', sandbox, '--max-examples', options.examples);
  }
  await using system = await startWholeSystem(dataDir.path, NO_DELIVERIES);
  await check('sandbox within its rate limit', system.targets.sandbox, '--phases', 'examples,coverage');
  return failed;
}

const replay = `npm run contract -- --seed ${options.seed} --examples ${options.examples}`;
try {
  const failed = await contract();
  console.log(
    failed.length === 0
      ? '\nThe contract holds.'
      : `\nThe contract does not hold: ${failed.join(', ')}. Again: ${replay}`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof PythonMissing)) throw error;
  console.error(`The contract is not tested: ${error.message}.`);
  process.exitCode = process.env.CI ? 1 : 0;
}
