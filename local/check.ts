import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENVIRONMENTS } from '../services/platform/tenant.ts';
import { DOCUMENTED_IMAGE } from './proto-image.ts';

/** The result of a check, with its output: the faults if it failed, or why it was not performed. */
interface Outcome {
  readonly result: 'passed' | 'failed' | 'not performed';
  readonly output: string;
}

const scratch = mkdtempSync(join(tmpdir(), 'payments-check-'));

/** Everything CI checks besides the slow tests; the quickest to fix come first. */
const CHECKS: Readonly<Record<string, () => Outcome>> = {
  types: () => run('tsc', '--noEmit'),
  'lint and format': () => run('biome', 'ci', '--colors=off'),
  'migrations that lock no table for long': () => run('squawk', ...migrations()),
  'proto lint': () => run('buf', 'lint'),
  'proto format': () => run('buf', 'format', '--diff', '--exit-code'),
  'documented proto names': () => run('buf', 'breaking', '--against', DOCUMENTED_IMAGE),
  'generated code fresh': generatedCodeFresh,
  'nothing unused': () => run('knip'),
  'OpenAPI lint': openApiLint,
  'licences of dependencies': () => run('node', 'local/licences.ts', '--check'),
  'known vulnerabilities of dependencies': audit,
  'imports, settings, grants, compose, Grafana': () =>
    run(
      'vitest',
      'run',
      'test/architecture/imports.test.ts',
      'test/local/settings-table.test.ts',
      'test/local/grants-table.test.ts',
      'test/local/compose.test.ts',
      'test/local/grafana.test.ts',
    ),
};

function run(command: string, ...args: string[]): Outcome {
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, REDOCLY_TELEMETRY: 'off' };
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env });
  if (status === 0) return { result: 'passed', output: stdout };
  return { result: 'failed', output: error ? `cannot run ${command}: ${error.message}\n` : stdout + stderr };
}

const migrations = () => globSync('services/migrations/*.sql');

function generatedCodeFresh(): Outcome {
  const generated = run('buf', 'generate', '--output', scratch);
  if (generated.result === 'failed') return generated;
  const compared = run('git', 'diff', '--no-index', '--stat', 'proto/gen', join(scratch, 'proto/gen'));
  return compared.result === 'failed' ? compared : clientTypesFresh();
}

function clientTypesFresh(): Outcome {
  const generated = run('npm', 'run', '--silent', 'generate', '--workspace=merchant-payments-client');
  if (generated.result === 'failed') return generated;
  const file = join(scratch, 'payments-api.ts');
  writeFileSync(file, generated.output);
  return run('git', 'diff', '--no-index', '--stat', 'client/payments-api.ts', file);
}

/** Lints both documents as served, with the rules for public APIs, without network access. */
function openApiLint(): Outcome {
  for (const environment of ENVIRONMENTS) {
    const written = run('node', 'local/openapi.ts', environment);
    if (written.result === 'failed') return written;
    const file = join(scratch, `${environment}.json`);
    writeFileSync(file, written.output);
    const linted = run('redocly', 'lint', '--config', 'gateway/openapi/redocly.yaml', file);
    if (linted.result === 'failed') return linted;
  }
  return { result: 'passed', output: '' };
}

/** Asks the registry about the packages that production contains. Not possible offline, or with every registry. */
function audit(): Outcome {
  const { result, output } = run('npm', 'audit', '--omit=dev', '--json');
  if (result === 'passed') return { result, output };
  const report = reportIn(output);
  if (report.vulnerabilities) {
    const found = Object.entries(report.vulnerabilities).map(
      ([name, { severity }]) => `${name}: ${severity}`,
    );
    return { result: 'failed', output: `${found.join('\n')}\nnpm audit --omit=dev says more\n` };
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
for (const [name, check] of Object.entries(CHECKS)) {
  const { result, output } = check();
  console.log(`${result.padEnd(7)}  ${name}`);
  if (result === 'not performed') notPerformed.push(name);
  if (result !== 'passed') console.log(output.replaceAll(/^(?=.)/gm, '         '));
  if (result === 'failed') failed += 1;
}
rmSync(scratch, { recursive: true });
const rest = notPerformed.length === 0 ? '' : ` NOT PERFORMED: ${notPerformed.join(', ')}.`;
const summary =
  failed > 0
    ? `${failed} of ${Object.keys(CHECKS).length} checks failed.`
    : `All ${rest ? 'other ' : ''}checks passed.`;
console.log(summary + rest);
process.exitCode = failed === 0 ? 0 : 1;
