import type { EntityManager } from '@mikro-orm/postgresql';
import { executeNamed } from './named-sql.ts';

/** Takes the lock of a name until the transaction ends, once another transaction that has it ends. */
export async function awaitAdvisoryLock(em: EntityManager, name: string): Promise<void> {
  await executeNamed(em, 'select pg_advisory_xact_lock(hashtextextended(:name, 0))', { name });
}

/** Takes the lock of a name until the transaction ends; false when another transaction has it. */
export async function tryAdvisoryLock(em: EntityManager, name: string): Promise<boolean> {
  const [lock] = await executeNamed<{ locked: boolean }>(
    em,
    'select pg_try_advisory_xact_lock(hashtextextended(:name, 0)) as locked',
    { name },
  );
  return lock!.locked;
}
