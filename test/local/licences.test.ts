import { expect, test } from 'vitest';
import { isAllowed, thirdPartyOf } from '../../local/licences.ts';

test('lists each version of a production package once, without development and workspace packages', () => {
  const packages = {
    '': {},
    cli: { version: '1.0.0' },
    'node_modules/merchant-payments': { link: true },
    'node_modules/vitest': { version: '5.0.0', license: 'MIT', dev: true },
    'node_modules/pg': { version: '8.0.0', license: 'MIT' },
    'node_modules/a/node_modules/@scope/b': { version: '2.0.0', license: 'ISC' },
    'node_modules/c/node_modules/@scope/b': { version: '2.0.0', license: 'ISC' },
    'node_modules/silent': { version: '1.0.0' },
  };
  expect(thirdPartyOf(packages)).toEqual([
    { name: '@scope/b', version: '2.0.0', licence: 'ISC' },
    { name: 'pg', version: '8.0.0', licence: 'MIT' },
    { name: 'silent', version: '1.0.0', licence: '' },
  ]);
});

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['(Apache-2.0 AND BSD-3-Clause)', true],
  ['(MIT AND GPL-3.0-only)', false],
  ['MIT OR (ISC AND GPL-3.0-only)', false],
  ['AGPL-3.0-only', false],
  ['SEE LICENSE IN LICENSE', false],
  ['', false],
])('%j is allowed: %j', (expression, allowed) => {
  expect(isAllowed(expression)).toBe(allowed);
});
