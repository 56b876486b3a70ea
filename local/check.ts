import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENVIRONMENTS } from '../services/platform/tenant.ts';
import { DOCUMENTED_IMAGE } from './proto-image.ts';

/** The result of a check, with its output: the faults if it failed. */
interface Outcome {
  readonly result: 'passed' | 'failed';
  readonly output: string;
}

const scratch = mkdtempSync(join(tmpdir(), 'payments-check-'));

/** Everything CI checks besides the slow tests; the quickest to fix come first. */
const CHECKS: Readonly<Record<string, () => Outcome>> = {
  types: () => run('tsc', '--noEmit'),
  'lint and format': () => run('biome', 'ci', '--colors=off'),
  'proto lint': () => run('buf', 'lint'),
  'proto format': () => run('buf', 'format', '--diff', '--exit-code'),
  'documented proto names': () => run('buf', 'breaking', '--against', DOCUMENTED_IMAGE),
  'generated code fresh': generatedCodeFresh,
  'nothing unused': () => run('knip'),
  'OpenAPI lint': openApiLint,
  'imports, settings, grants, compose': () =>
    run(
      'vitest',
      'run',
      'test/architecture/imports.test.ts',
      'test/local/settings-table.test.ts',
      'test/local/grants-table.test.ts',
      'test/local/compose.test.ts',
    ),
};

function run(command: string, ...args: string[]): Outcome {
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, REDOCLY_TELEMETRY: 'off' };
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env });
  if (status === 0) return { result: 'passed', output: stdout };
  return { result: 'failed', output: error ? `cannot run ${command}: ${error.message}\n` : stdout + stderr };
}

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

let failed = 0;
for (const [name, check] of Object.entries(CHECKS)) {
  const { result, output } = check();
  console.log(`${result.padEnd(7)}  ${name}`);
  if (result !== 'passed') console.log(output.replaceAll(/^(?=.)/gm, '         '));
  if (result === 'failed') failed += 1;
}
rmSync(scratch, { recursive: true });
console.log(
  failed === 0 ? 'All checks passed.' : `${failed} of ${Object.keys(CHECKS).length} checks failed.`,
);
process.exitCode = failed === 0 ? 0 : 1;
