import { expect, test } from 'vitest';
import { Slots, UPLOADS } from '../../../../services/platform/process/slots.ts';

test('an owner and an environment have limits, and sandbox uploads take no slots of live', () => {
  const slots = new Slots(UPLOADS);
  const fill = (environment: 'live' | 'test', owners: readonly string[]) =>
    owners.flatMap((owner) => Array.from({ length: 4 }, () => slots.acquire(environment, owner)));
  const [release] = fill('test', ['a', 'b']);
  expect(slots.acquire('test', 'c')).toBe('PROCESS_LIMIT');
  fill('live', ['a', 'b', 'c']);
  expect(slots.acquire('live', 'a')).toBe('OWNER_LIMIT');
  fill('live', ['d']);
  expect(slots.acquire('live', 'e')).toBe('PROCESS_LIMIT');
  if (typeof release === 'function') release();
  expect(slots.acquire('test', 'c')).toBeInstanceOf(Function);
  expect(slots.acquire('test', 'c')).toBe('PROCESS_LIMIT');
});

test('a slot that is released twice frees no other slot', () => {
  const slots = new Slots({ live: 2, test: 1, perOwner: 2 });
  const release = slots.acquire('live', 'a');
  slots.acquire('live', 'b');
  if (typeof release !== 'function') throw new Error(release);
  release();
  release();
  slots.acquire('live', 'c');
  expect(slots.acquire('live', 'd')).toBe('PROCESS_LIMIT');
});
