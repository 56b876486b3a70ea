import { expect, test } from 'vitest';
import { Replica } from '../../../../services/platform/database/replica.ts';

test.each([
  ['postgres://user:secret@replica.internal:5433/payments', 'replica.internal:5433'],
  ['postgres://user:secret@replica.internal/payments?sslmode=require', 'replica.internal:5432'],
  ['postgres://user:secret@[2001:db8::1]:5433/payments', '[2001:db8::1]:5433'],
  ['postgres:///payments?host=/var/run/replica&port=5433', '/var/run/replica:5433'],
  ['postgres://user@%2Fvar%2Frun%2Freplica/payments', '/var/run/replica:5432'],
  ['postgres://user@other/payments?host=replica.internal', 'replica.internal:5432'],
])('the replica at %s is named by where it is', async (url, name) => {
  const replica = new Replica(url, {}, 0);
  expect(replica.name).toBe(name);
  await replica.close();
});
