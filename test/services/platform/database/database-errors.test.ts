import { expect, it } from 'vitest';
import { isDatabaseUnavailable } from '../../../../services/platform/database/database-errors.ts';

const withCode = (code: string) => Object.assign(new Error('sesame'), { code });

it.each([
  ['refused', withCode('ECONNREFUSED')],
  ['on no network', withCode('EHOSTUNREACH')],
  ['not found for the moment', withCode('EAI_AGAIN')],
  ['out of connections', withCode('53300')],
  ['refusing a password that was changed', withCode('28P01')],
  ['refusing a role that was locked', withCode('28000')],
  ['renamed', withCode('3D000')],
  ['out of disk', withCode('53100')],
  ['too busy to serialize a transaction', withCode('40001')],
  ['deadlocked, however often it is tried', withCode('40P01')],
  ['too busy to lock a row in time', withCode('55P03')],
  ['shut down by an administrator', withCode('57P01')],
  ['told to cancel the statement', withCode('57014')],
  ['no longer the one that writes', withCode('25006')],
  ['wrapped by the driver', new Error('outer', { cause: withCode('08006') })],
  [
    'without one of its nodes',
    Object.assign(new Error('failure on connection marked as essential: 127.0.0.1:5432'), { code: 'XX000' }),
  ],
  ['gone in the middle of a migration', new Error('outer', { cause: new Error('Connection terminated') })],
  ['no free connection in time', new Error('timeout exceeded when trying to connect')],
])('a database that is %s is unavailable', (_what, error) => {
  expect(isDatabaseUnavailable(error)).toBe(true);
});

it.each([
  ['a unique key that is taken', withCode('23505')],
  ['a table that does not exist', withCode('42P01')],
  ['an internal error of PostgreSQL', withCode('XX000')],
  ['a programming error', new TypeError('sesame')],
  ['no error', 'ECONNREFUSED'],
])('%s does not mean that the database is unavailable', (_what, error) => {
  expect(isDatabaseUnavailable(error)).toBe(false);
});
