import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENVIRONMENTS } from '../services/platform/tenant.ts';
import { DOCUMENTED_IMAGE } from './proto-image.ts';

/** The result of a check, with its output: the faults if it failed, or why it was not performed. */
interface Outcome {
  readonly result: 'passed' | 'failed' | 'not performed';
  readonly output: string;
}

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
  const { result, output } = await run('npm', 'audit', '--omit=dev', '--json');
  if (result === 'passed') return { result, output };
  const report = reportIn(output);
  if (report.vulnerabilities) {
    const found = Object.entries(report.vulnerabilities).map(
      ([name, { severity }]) => `${name}: ${severity}`,
    );
    return { result: 'failed', output: `${found.join('\n')}\nnpm audit --omit=dev has the details\n` };
  }
  return { result: 'not performed', output: `${report.message ?? 'npm audit has no report'}\n` };
}

interface AuditReport {
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
  readonly message?: string;
}

function reportIn(output: string): AuditReport {
  try {
    return JSON.parse(output.slice(0, output.lastIndexOf('}') + 1));
  } catch {
    return {};
  }
}

let failed = 0;
const notPerformed: string[] = [];
const remaining = Object.entries(CHECKS).values();
/** Performs checks one after another; several of these run at the same time. */
async function performChecks(): Promise<void> {
  for (const [name, check] of remaining) {
    const { result, output } = await check();
    console.log(`${result.padEnd(7)}  ${name}`);
    if (result === 'not performed') notPerformed.push(name);
    if (result !== 'passed') console.log(output.replaceAll(/^(?=.)/gm, '         '));
    if (result === 'failed') failed += 1;
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, performChecks));
rmSync(scratch, { recursive: true });
const rest = notPerformed.length === 0 ? '' : ` NOT PERFORMED: ${notPerformed.join(', ')}.`;
const summary =
  failed > 0
    ? `${failed} of ${Object.keys(CHECKS).length} checks failed.`
    : `All ${rest ? 'other ' : ''}checks passed.`;
console.log(summary + rest);
process.exitCode = failed === 0 ? 0 : 1;
