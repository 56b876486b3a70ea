import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

const run = (...args: string[]) =>
  spawnSync(process.execPath, ['local/openapi.ts', ...args], { encoding: 'utf8' });

it('npm run openapi writes the document of the given environment', () => {
  const { status, stdout } = run('test');
  expect(status).toBe(0);
  expect(JSON.parse(stdout).servers).toMatchObject([{ url: 'http://127.0.0.1:8081' }]);
});

it('npm run openapi prints its usage for any other argument', () => {
  expect(run('bogus')).toMatchObject({
    status: 2,
    stdout: '',
    stderr: 'usage: npm run openapi [live|test]\n',
  });
});
