import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENVIRONMENTS } from '../services/platform/tenant.ts';
import { auditOutcome, type Outcome, summaryOf } from './check-outcome.ts';
import { DOCUMENTED_IMAGE } from './proto-image.ts';

const scratch = mkdtempSync(join(tmpdir(), 'payments-check-'));

/** Everything CI checks besides the tests; the quickest to fix come first. */
const CHECKS: Readonly<Record<string, () => Promise<Outcome>>> = {
  // One at a time, because each would check the types that all files share; the other checks use the other cores.
  types: () => run('tsc', '--noEmit', '--checkers', '1'),
  'lint and format': () => run('biome', 'ci', '--colors=off'),
  'migrations that lock no table for long': () => run('squawk', ...migrations()),
  'proto lint': () => run('buf', 'lint'),
  'proto format': () => run('buf', 'format', '--diff', '--exit-code'),
  'documented proto names': () => run('buf', 'breaking', '--against', DOCUMENTED_IMAGE),
  'generated code fresh': generatedCodeFresh,
  'import rules': () => run('vitest', 'run', '--config', 'test/architecture/vitest.config.ts'),
  'nothing unused': () => run('knip'),
  'OpenAPI lint': openApiLint,
  'licences of dependencies': () => run('node', 'local/licences.ts', '--check'),
  'known vulnerabilities of dependencies': audit,
};

async function run(command: string, ...args: string[]): Promise<Outcome> {
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, REDOCLY_TELEMETRY: 'off' };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk) => (stderr += chunk));
  try {
    const [exitCode] = await once(child, 'close');
    return exitCode === 0
      ? { result: 'passed', output: stdout }
      : { result: 'failed', output: stdout + stderr };
  } catch (error) {
    return { result: 'failed', output: `cannot run ${command}: ${(error as Error).message}\n` };
  }
}

const migrations = () => globSync('services/migrations/*.sql');

async function generatedCodeFresh(): Promise<Outcome> {
  const generated = await run('buf', 'generate', '--output', scratch);
  if (generated.result === 'failed') return generated;
  const compared = await run('git', 'diff', '--no-index', '--stat', 'proto/gen', join(scratch, 'proto/gen'));
  return compared.result === 'failed' ? compared : clientTypesFresh();
}

async function clientTypesFresh(): Promise<Outcome> {
  const generated = await run('npm', 'run', '--silent', 'generate', '--workspace=merchant-payments-client');
  if (generated.result === 'failed') return generated;
  const file = join(scratch, 'payments-api.ts');
  writeFileSync(file, generated.output);
  return run('git', 'diff', '--no-index', '--stat', 'client/payments-api.ts', file);
}

/** Lints both documents as served, with the rules for public APIs, without network access. */
async function openApiLint(): Promise<Outcome> {
  for (const environment of ENVIRONMENTS) {
    const written = await run('node', 'local/openapi.ts', environment);
    if (written.result === 'failed') return written;
    const file = join(scratch, `${environment}.json`);
    writeFileSync(file, written.output);
    const linted = await run('redocly', 'lint', '--config', 'gateway/openapi/redocly.yaml', file);
    if (linted.result === 'failed') return linted;
  }
  return { result: 'passed', output: '' };
}

/** Asks the registry about the packages that production contains. Not possible offline, or with every registry. */
async function audit(): Promise<Outcome> {
  return auditOutcome(await run('npm', 'audit', '--omit=dev', '--json'));
}

const outcomes = new Map<string, Outcome>();
const remaining = Object.entries(CHECKS).values();
/** Performs checks one after another; several of these run at the same time. */
async function performChecks(): Promise<void> {
  for (const [name, check] of remaining) {
    const outcome = await check();
    outcomes.set(name, outcome);
    console.log(`${outcome.result.padEnd(7)}  ${name}`);
    if (outcome.result !== 'passed') console.log(outcome.output.replaceAll(/^(?=.)/gm, '         '));
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, performChecks));
rmSync(scratch, { recursive: true });
console.log(summaryOf(outcomes));
process.exitCode = [...outcomes.values()].some(({ result }) => result === 'failed') ? 1 : 0;
